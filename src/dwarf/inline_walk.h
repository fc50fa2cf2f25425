// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dwarf/budget.h"
#include "dwarf/die_walk.h"

namespace bobbin::dwarf {

// A function that was inlined, and where from.
struct InlinedCall {
    std::uint64_t place = 0;   // of its DIE
    std::int32_t parent = -1;  // what it was inlined into: another one, or -1, the function itself
    std::uint64_t call_file = 0;  // a number of the line table
    std::uint32_t call_line = 0;
    DieReference origin;
};

// The inlined calls of one function that are around some of `vaddrs`, which ascend.
struct InlinedCalls {
    std::vector<InlinedCall> calls;
    std::vector<std::int32_t> innermost;  // for each vaddr: an index of `calls`, or -1
};

// Walks the function's DIEs once. Where calls overlap without one being inside of the other, the
// later one has the address.
InlinedCalls find_inlined_calls(const UnitBytes& unit, std::uint64_t function_place,
                                std::span<const std::uint64_t> vaddrs, Budget& budget);

}  // namespace bobbin::dwarf
