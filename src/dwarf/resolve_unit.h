// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dwarf/function_names.h"
#include "dwarf/inline_walk.h"
#include "dwarf/line_table.h"
#include "dwarf/resolve.h"

namespace bobbin::dwarf {

// Answers the queries of one unit after another: its line table, then its functions, then, of
// those that were hit, what was inlined into them.
class UnitResolver {
public:
    UnitResolver(const ResolveOptions& options, FunctionNames& names, Resolution& resolution,
                 Budget& inline_budget, Budget& line_budget)
        : options_(options),
          names_(names),
          resolution_(resolution),
          inline_budget_(inline_budget),
          line_budget_(line_budget) {}

    // `numbers` are those of the unit's queries, ascending. `unit` may be a skeleton.
    void resolve(const Unit& unit, std::span<const Query> queries,
                 std::span<const std::uint32_t> numbers);

private:
    void resolve_functions(const Unit& code);
    void add_lines_only();
    void look_inside_functions(const UnitBytes& unit, std::vector<FunctionHit>& hits);
    void add_functions(const UnitBytes& unit, std::span<const FunctionHit> hits);
    void add_chain(std::uint32_t query, const InlinedCalls& inlined, std::int32_t innermost,
                   std::uint32_t function);
    void add_line_only(std::uint32_t query);
    void resolve_split(const Unit& skeleton);
    std::uint32_t file_number(std::uint64_t file);

    const ResolveOptions& options_;
    FunctionNames& names_;
    Resolution& resolution_;
    Budget& inline_budget_;
    Budget& line_budget_;

    // Of the unit in hand.
    std::span<const std::uint32_t> numbers_;
    std::vector<Query> queries_;
    std::vector<LineRow> rows_;
    std::optional<LineTable> lines_;
    std::vector<std::uint32_t> files_;  // by its number of a file, the answer's; 0: not looked up
};

}  // namespace bobbin::dwarf
