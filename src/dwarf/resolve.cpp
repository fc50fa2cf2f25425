// SPDX-License-Identifier: Apache-2.0
#include "dwarf/resolve.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "dwarf/address_index.h"
#include "dwarf/passing_units.h"
#include "dwarf/resolve_unit.h"

namespace bobbin::dwarf {
namespace {

// The queries of one unit, by number.
struct UnitQueries {
    std::size_t unit = 0;
    std::vector<std::uint32_t> queries;
};

std::vector<UnitQueries> group_by_unit(const AddressIndex& index, std::span<const Query> queries) {
    std::vector<std::uint64_t> addresses;
    addresses.reserve(queries.size());
    for (const Query& query : queries) addresses.push_back(query.vaddr);
    const std::vector<std::size_t> units = index.units_of(addresses);

    std::vector<std::uint32_t> order(queries.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return units[i]; });
    std::vector<UnitQueries> groups;
    for (const std::uint32_t i : order) {
        if (units[i] == AddressIndex::kNoUnit) break;  // the largest number, so the last
        if (groups.empty() || groups.back().unit != units[i]) groups.push_back({units[i], {}});
        groups.back().queries.push_back(i);
    }
    std::ranges::stable_sort(groups, std::greater<>(),
                             [](const UnitQueries& group) { return group.queries.size(); });
    return groups;
}

void resolve_most_asked_first(DebugFile& file, std::span<const Query> queries,
                              UnitResolver& resolver, Budget& budget) {
    const AddressIndex index = AddressIndex::read(file, budget);
    for (const UnitQueries& group : group_by_unit(index, queries)) {
        if (!budget.look()) break;
        resolver.resolve(file.unit(group.unit), queries, group.queries);
    }
}

void resolve_in_passing(DebugFile& file, std::span<const Query> queries, UnitResolver& resolver,
                        Budget& budget) {
    PassingUnits units(file, queries, budget);
    while (const auto found = units.next()) {
        resolver.resolve(found->unit, queries, found->queries);
    }
}

// The names of frames are numbers of FunctionNames so far.
void take_names(Resolution& resolution, const FunctionNames& names) {
    std::vector<std::uint32_t> numbers;
    for (Frame& frame : resolution.frames) {
        if (frame.function >= numbers.size()) numbers.resize(frame.function + 1, UINT32_MAX);
        std::uint32_t& number = numbers[frame.function];
        if (number == UINT32_MAX) number = resolution.strings.number_of(names[frame.function]);
        frame.function = number;
    }
}

}  // namespace

Resolution resolve(DebugFile& file, std::span<const Query> queries, const ResolveOptions& options) {
    Resolution resolution;
    resolution.spans.resize(queries.size());
    Budget all(options.deadline);
    const bool has_deadline = options.deadline != Budget::Clock::time_point::max();
    Budget inlines(has_deadline ? options.start + (options.deadline - options.start) / 3 * 2
                                : options.deadline);
    FunctionNames names(all);
    UnitResolver resolver(options, names, resolution, inlines, all);
    if (file.sections.info.is_forward()) {
        resolve_in_passing(file, queries, resolver, all);
    } else {
        resolve_most_asked_first(file, queries, resolver, all);
    }
    names.finish();
    take_names(resolution, names);
    resolution.is_out_of_time = !all.look() || !inlines.look();
    return resolution;
}

}  // namespace bobbin::dwarf
