// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {

std::uint16_t find_code(const UnwindTable& table, std::uint64_t file_offset, unsigned* steps) {
    if (steps != nullptr) {
        *steps = 0;
    }
    // An offset below the base wraps around and lies behind the last granule.
    const std::uint64_t granule = (file_offset - table.base_file_offset) >> table.granule_shift;
    if (granule >= table.granule_count) {
        return abi::CODE_NO_CFI;
    }
    const std::uint32_t* const words = table.words.data();
    const std::uint32_t first = words[granule] >> 8;
    const std::uint32_t count = words[granule] & 255;
    // Above every entry at this offset, whatever its code.
    const auto key = static_cast<std::uint32_t>(file_offset & 0xffff) << 16 | 0xffff;

    std::uint32_t at = first;
    std::uint32_t left = count;
    for (unsigned step = 0; step < abi::MAX_SEARCH_STEPS && left > 1; ++step) {
        const std::uint32_t half = left / 2;
        at += words[at + half] <= key ? half : 0;
        left -= half;
        if (steps != nullptr) {
            *steps = step + 1;
        }
    }
    std::uint32_t entry = words[at];
    if (count == 0 || entry > key) {
        entry = words[first - 1];
    }
    return static_cast<std::uint16_t>(entry & 0xffff);
}

}  // namespace bobbin::unwind_table
