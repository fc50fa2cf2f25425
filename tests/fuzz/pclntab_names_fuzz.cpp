// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "pclntab/module_data.h"
#include "pclntab/names.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

// The input is a .gopclntab; its own bytes serve as trees of inlined calls, too, which the corpus
// has behind the table. Addresses lie all over the first functions.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace pclntab = bobbin::pclntab;
    constexpr std::uint64_t kTextStart = 0x401000;
    constexpr std::uint64_t kTable = 0x480000;
    const auto section = std::as_bytes(std::span(data, size));
    auto table = pclntab::FunctionTable::open(section);
    if (!table) return 0;
    if (!table->knows_text_start()) table->set_text_start(kTextStart);
    (void)pclntab::find_module_data(section, *table, kTable);
    (void)pclntab::read_inline_trees_start(section, table->version());

    std::vector<std::uint64_t> addresses;
    const auto first = table->function(0);
    const std::uint64_t start = first ? first->start_file_vaddr : kTextStart;
    for (std::uint64_t i = 0; i < 256; i += 3) addresses.push_back(start + i);
    for (const bool has_build_info : {false, true}) {
        const pclntab::InlineTrees trees{section, kTable, kTable,
                                         pclntab::inline_layout(table->version(), has_build_info)};
        const auto names = pclntab::name_addresses(*table, trees, addresses);
        require(names.size() == addresses.size());
        for (const auto& frames : names) require(frames.size() <= pclntab::kMaxInlinedCalls + 1);
    }
    return 0;
}
