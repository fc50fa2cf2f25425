// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dwarf/aranges.h"
#include "dwarf/budget.h"
#include "dwarf/debug_file.h"
#include "dwarf/function_walk.h"
#include "dwarf/unit.h"

namespace bobbin::dwarf {

// The units of a file in its order, each with the queries that are its own: how a .debug_info is
// read that is unpacked on the way. Finds the same as AddressIndex, which wants all headers first.
class PassingUnits {
public:
    // `queries` ascend.
    PassingUnits(DebugFile& file, std::span<const Query> queries, Budget& budget);

    struct Found {
        Unit unit;
        std::vector<std::uint32_t> queries;  // their numbers, ascending
    };
    // The next unit that has any; its bytes are what is unpacked. nullopt: no other has.
    std::optional<Found> next();

private:
    void read_ranges(const UnitHeader& header, std::optional<Unit>& unit);
    [[nodiscard]] std::vector<std::uint32_t> take_queries();

    DebugFile& file_;
    std::span<const Query> queries_;
    Budget& budget_;
    ListedRanges listed_;
    UnitHeaderWalk headers_;
    std::vector<Range> ranges_;  // of the unit in hand
    std::vector<bool> is_taken_;
    std::size_t left_count_;
};

}  // namespace bobbin::dwarf
