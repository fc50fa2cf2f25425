// SPDX-License-Identifier: Apache-2.0
#include "report/peek.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace bobbin::report {
namespace {

struct Edge {
    Weight weight;
    std::size_t last_stack = SIZE_MAX;  // that it was met in
};

class Edges {
public:
    Edges(const symbolize::NamedProfile& profile, By by, const Pattern& names)
        : groups_(profile, by) {
        for (const Group& group : groups_.groups()) matches_.push_back(names.matches(group.name));
        for (std::size_t i = 0; i < profile.stacks.size(); ++i) add(profile.stacks[i], i);
    }

    // The neighbours of each group that matches: callers first, then callees.
    using Both = std::pair<std::vector<Neighbour>, std::vector<Neighbour>>;
    [[nodiscard]] std::unordered_map<std::uint32_t, Both> neighbours() const {
        std::unordered_map<std::uint32_t, Both> all;
        for (std::uint32_t i = 0; i < matches_.size(); ++i) {
            if (matches_[i]) all[i];
        }
        for (const auto& [key, edge] : edges_) {
            const auto caller = static_cast<std::uint32_t>(key >> 32);
            const auto callee = static_cast<std::uint32_t>(key);
            if (matches_[callee])
                all[callee].first.push_back({groups_.groups()[caller], edge.weight});
            if (matches_[caller])
                all[caller].second.push_back({groups_.groups()[callee], edge.weight});
        }
        return all;
    }
    [[nodiscard]] const Group& group(std::uint32_t number) const {
        return groups_.groups()[number];
    }

private:
    void add(const symbolize::NamedStack& stack, std::size_t stack_number) {
        std::uint32_t caller = UINT32_MAX;
        for (const std::uint32_t location : std::views::reverse(stack.locations)) {
            for (const std::uint32_t callee : std::views::reverse(groups_.of(location))) {
                const std::uint32_t from = std::exchange(caller, callee);
                if (from == UINT32_MAX || from == callee) continue;
                if (!matches_[from] && !matches_[callee]) continue;
                Edge& edge = edges_[std::uint64_t{from} << 32 | callee];
                if (std::exchange(edge.last_stack, stack_number) == stack_number) continue;
                edge.weight += weight_of(stack);
            }
        }
    }

    FrameGroups groups_;
    std::vector<bool> matches_;
    std::unordered_map<std::uint64_t, Edge> edges_;  // caller, callee
};

void sort_neighbours(std::vector<Neighbour>& neighbours) {
    std::ranges::sort(neighbours, {}, [](const Neighbour& neighbour) {
        return std::tuple(~neighbour.weight.value, std::string_view(neighbour.group.name),
                          std::string_view(neighbour.group.module),
                          std::string_view(neighbour.group.file), neighbour.group.line);
    });
}

}  // namespace

std::vector<Peek> peek(const symbolize::NamedProfile& profile, By by, const Pattern& names,
                       Sort sort) {
    const Edges edges(profile, by, names);
    // Both number groups as they come in the profile, but tables are sorted.
    using Key = std::tuple<std::string, std::string, std::string, std::uint32_t>;
    const auto key_of = [by](const Group& group) {
        return Key{group.name, group.module, group.file, by == By::kLine ? group.line : 0};
    };
    std::map<Key, Edges::Both> neighbours;
    for (auto& [number, both] : edges.neighbours()) {
        neighbours.emplace(key_of(edges.group(number)), both);
    }
    std::vector<Peek> peeks;
    for (TableRow& row : make_table(profile, {.by = by, .label_key = {}}, sort)) {
        const auto found = neighbours.find(key_of(row.group));
        if (found == neighbours.end()) continue;
        peeks.push_back(
            {std::move(row), std::move(found->second.first), std::move(found->second.second)});
        sort_neighbours(peeks.back().callers);
        sort_neighbours(peeks.back().callees);
    }
    return peeks;
}

}  // namespace bobbin::report
