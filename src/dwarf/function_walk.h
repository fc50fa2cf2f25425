// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dwarf/budget.h"
#include "dwarf/die_walk.h"
#include "dwarf/scope_index.h"

namespace bobbin::dwarf {

// An address to be resolved.
struct Query {
    std::uint64_t vaddr = 0;
    // Where the function symbol that covers it starts; 0: none does.
    std::uint64_t symbol_vaddr = 0;
};

// The function at an address, by its place in the unit's bytes; 0: none.
struct FunctionHit {
    std::uint64_t place = 0;
    std::uint64_t range_start_vaddr = 0;
    std::uint64_t range_bytes = 0;
};

enum class Nested {
    kSkip,     // what is inside of a function is jumped over
    kDescend,  // methods of local classes, Fortran's and Ada's inner functions
};

// Finds the functions at `queries`, which ascend by vaddr, in one walk over a unit: DIEs without
// functions in them are jumped over where the compiler wrote siblings (GCC does, clang does not).
// Where several functions cover an address, it is the one whose range starts where the symbol does,
// else the smallest range, else the first DIE. On the way `scopes` learns where it can start when
// somebody asks for the scope of a DIE.
std::vector<FunctionHit> find_functions(const UnitBytes& unit, std::span<const Query> queries,
                                        Nested nested, ScopeIndex& scopes, Budget& budget);

}  // namespace bobbin::dwarf
