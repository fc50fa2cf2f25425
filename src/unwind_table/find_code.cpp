// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {

namespace {

// The last word of a line whose offset is not above the one that `end` is right behind; word 0 is
// taken as such whatever it says.
std::uint32_t search_line(std::span<const std::uint32_t, abi::LINE_WORDS> line, std::uint64_t end,
                          unsigned& steps) {
    std::size_t at = 0;
    for (std::size_t half = abi::LINE_WORDS / 2; half > 0; half /= 2) {
        at += line[at + half] < end ? half : 0;
        ++steps;
    }
    return line[at];
}

}  // namespace

std::uint16_t find_code(const UnwindTable& table, std::uint64_t file_offset,
                        std::span<const abi::macro> macros, unsigned* steps) {
    unsigned not_asked = 0;
    unsigned& steps_taken = steps == nullptr ? not_asked : *steps;
    steps_taken = 0;
    const auto line = [&table](std::uint64_t number) {
        return std::span<const std::uint32_t, abi::LINE_WORDS>(
            table.words.data() + number * abi::LINE_WORDS, abi::LINE_WORDS);
    };
    // An offset below the base wraps around and lies behind the last granule.
    const std::uint64_t granule = (file_offset - table.base_file_offset) >> table.granule_shift;
    if (granule >= table.granule_count) {
        return abi::CODE_NO_CFI;
    }
    const std::uint64_t end = ((file_offset & abi::ENTRY_OFFSET_MASK) + 1)
                              << abi::ENTRY_OFFSET_SHIFT;
    std::uint32_t entry = search_line(line(granule), end, steps_taken);
    if ((entry & abi::ENTRY_IS_LINK) != 0) {
        entry = search_line(line(table.granule_count + (entry & 0xffff)), end, steps_taken);
    }
    const auto code = static_cast<std::uint16_t>(entry & 0xffff);
    if ((code & abi::CODE_MACRO) == 0) {
        return code;
    }
    // Modulo 2^15: what holds at a granule's start may have begun before.
    const auto distance =
        static_cast<std::uint32_t>(file_offset - (entry >> abi::ENTRY_OFFSET_SHIFT)) &
        abi::ENTRY_OFFSET_MASK;
    return code_at(macros[code & ~unsigned{abi::CODE_MACRO}], distance);
}

}  // namespace bobbin::unwind_table
