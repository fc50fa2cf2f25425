// SPDX-License-Identifier: Apache-2.0
#include "pclntab/text_start.h"

#include "base/byte_reader.h"

namespace bobbin::pclntab {
namespace {

// runtime/symtab.go, moduledata: pcHeader, then funcnametab, cutab, filetab, pctab, pclntable and
// ftab as slices of three words, findfunctab, minpc, maxpc, text.
constexpr std::uint64_t kWordsBeforeMinPc = 1 + 6 * 3 + 1;

}  // namespace

Result<std::uint64_t> read_text_start(std::span<const std::byte> module_data,
                                      const FunctionTable& table, std::uint64_t table_file_vaddr) {
    ByteReader in(module_data);
    const std::uint64_t header = in.u64();
    in.skip(8 * (kWordsBeforeMinPc - 1));
    const std::uint64_t first_function = in.u64();
    in.skip(8);  // maxpc: the linker writes one less in some versions
    const std::uint64_t text_start = in.u64();
    const auto first = table.size() > 0 ? table.function(0) : std::nullopt;
    if (!in.ok() || !first || header != table_file_vaddr || text_start == 0 ||
        first_function - text_start != first->start_file_vaddr) {
        return fail("the module data of Go do not agree with its function table");
    }
    return text_start;
}

Result<> tell_text_start(const std::optional<elf::SectionBytes>& module_data,
                         std::uint64_t table_file_vaddr, FunctionTable& table) {
    if (!module_data) return fail("the program of Go has no module data");
    BOBBIN_TRY(const std::uint64_t text_start,
               read_text_start(module_data->bytes, table, table_file_vaddr));
    table.set_text_start(text_start);
    return {};
}

}  // namespace bobbin::pclntab
