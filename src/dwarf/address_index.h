// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dwarf/budget.h"
#include "dwarf/debug_file.h"

namespace bobbin::dwarf {

// Which unit has the code at an address: by .debug_aranges, and for units that it does not speak of
// (clang writes none) by their roots. Where units overlap, the first in the file has it.
class AddressIndex {
public:
    static AddressIndex read(DebugFile& file, Budget& budget);

    static constexpr std::size_t kNoUnit = ~std::size_t{0};
    // The index of the unit, for each of `addresses`, which ascend.
    [[nodiscard]] std::vector<std::size_t> units_of(std::span<const std::uint64_t> addresses) const;

private:
    struct Interval {
        std::uint64_t start_vaddr = 0;
        std::uint64_t end_vaddr = 0;
        std::uint32_t unit = 0;
    };
    friend class AddressIndexReader;

    std::vector<Interval> intervals_;  // ascending, none overlaps another
};

}  // namespace bobbin::dwarf
