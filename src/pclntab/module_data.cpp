// SPDX-License-Identifier: Apache-2.0
#include "pclntab/module_data.h"

#include "base/byte_reader.h"

namespace bobbin::pclntab {

std::optional<std::size_t> find_module_data(std::span<const std::byte> section,
                                            const FunctionTable& table,
                                            std::uint64_t table_file_vaddr) {
    constexpr std::size_t kWordBytes = 8;
    const std::uint64_t names_file_vaddr = table_file_vaddr + table.names_start();
    ByteReader in(section);
    std::uint64_t before = 0;
    for (std::size_t at = 0; in.remaining() >= kWordBytes; at += kWordBytes) {
        const std::uint64_t word = in.u64();
        const bool found = word == names_file_vaddr && before == table_file_vaddr;
        if (at > 0 && found) return at - kWordBytes;
        before = word;
    }
    return std::nullopt;
}

// runtime/symtab.go, moduledata: the words up to `text` as text_start.cpp counts them; then etext,
// the limits of noptrdata, data, bss, noptrbss and, since 1.20, covctrs; end, gcdata, gcbss, types,
// etypes, rodata.
std::optional<std::uint64_t> read_inline_trees_start(std::span<const std::byte> module_data,
                                                     Version version) {
    constexpr std::uint64_t kWordsBeforeGo118 = 22 + 2 + 4 * 2 + 6;
    if (version < Version::kGo118) return std::nullopt;
    ByteReader in(module_data);
    in.skip(8 * (kWordsBeforeGo118 + (version >= Version::kGo120 ? 2 : 0)));
    const std::uint64_t start = in.u64();
    if (!in.ok() || start == 0) return std::nullopt;
    return start;
}

}  // namespace bobbin::pclntab
