// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "dwarf/budget.h"
#include "dwarf/section.h"
#include "dwarf/unit.h"

namespace bobbin::dwarf {

// What .debug_aranges says (DWARF 5 section 6.1.2), of units by their offset in .debug_info.
struct ListedRanges {
    struct UnitRange {
        std::uint64_t info_offset = 0;
        Range range;
    };
    std::vector<std::uint64_t> info_offsets;  // ascending; also of units that have no range
    std::vector<UnitRange> ranges;            // ascending by info_offset
};

ListedRanges read_aranges(Section& aranges, Budget& budget);

}  // namespace bobbin::dwarf
