// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {

std::uint16_t find_code(const UnwindTable& table, std::uint64_t file_offset,
                        std::span<const abi::macro> macros, unsigned* steps) {
    if (steps != nullptr) {
        *steps = 0;
    }
    // An offset below the base wraps around and lies behind the last granule.
    const std::uint64_t granule = (file_offset - table.base_file_offset) >> table.granule_shift;
    if (granule >= table.granule_count) {
        return abi::CODE_NO_CFI;
    }
    const std::uint32_t* const words = table.words.data();
    const std::uint32_t predecessor = (words[granule] >> 8) - 1;
    const std::uint32_t count = words[granule] & 255;
    // Above every entry at this offset, whatever its code.
    const auto key = static_cast<std::uint32_t>(file_offset & 0xffff) << 16 | 0xffff;

    // The predecessor, right before the group, is not above whatever its word says.
    std::uint32_t at = predecessor;
    std::uint32_t left = count + 1;
    for (unsigned step = 0; step < abi::MAX_SEARCH_STEPS && left > 1; ++step) {
        const std::uint32_t half = left / 2;
        at += words[at + half] <= key ? half : 0;
        left -= half;
        if (steps != nullptr) {
            *steps = step + 1;
        }
    }
    const std::uint32_t entry = words[at];
    const auto code = static_cast<std::uint16_t>(entry & 0xffff);
    if ((code & abi::CODE_MACRO) == 0) {
        return code;
    }
    // Modulo 2^16: a predecessor may lie in the 64 KiB before.
    const auto distance = static_cast<std::uint16_t>(file_offset - (entry >> 16));
    return code_at(macros[code & ~unsigned{abi::CODE_MACRO}], distance);
}

}  // namespace bobbin::unwind_table
