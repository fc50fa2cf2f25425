// SPDX-License-Identifier: Apache-2.0
#include "report/function_table.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace bobbin::report {
namespace {

class FrameTable {
public:
    FrameTable(const symbolize::NamedProfile& profile, By by)
        : profile_(profile),
          by_(by),
          groups_(profile, by),
          last_stack_(groups_.groups().size(), kNever),
          value_of_line_(groups_.line_count()) {
        rows_.resize(groups_.groups().size());
    }

    std::vector<TableRow> make() {
        for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].group = groups_.groups()[i];
        for (std::size_t i = 0; i < profile_.stacks.size(); ++i) add(i);
        if (by_ == By::kFunction) set_lines();
        // What no stack shows: a location that filters left out, or that a file lists for nothing.
        std::erase_if(rows_, [](const TableRow& row) { return row.total == Weight{}; });
        return std::move(rows_);
    }

private:
    static constexpr std::size_t kNever = SIZE_MAX;

    void add(std::size_t stack_number) {
        const symbolize::NamedStack& stack = profile_.stacks[stack_number];
        const Weight weight = weight_of(stack);
        if (!stack.locations.empty()) {
            rows_[groups_.of(stack.locations.front()).front()].self += weight;
        }
        for (const std::uint32_t location : stack.locations) {
            std::size_t line = groups_.first_line_of(location);
            for (const std::uint32_t group : groups_.of(location)) {
                value_of_line_[line++] += weight.value;
                if (std::exchange(last_stack_[group], stack_number) == stack_number) continue;
                rows_[group].total += weight;
            }
        }
    }

    void set_lines() {
        std::vector<std::unordered_map<std::uint32_t, std::uint64_t>> by_line(rows_.size());
        for (std::uint32_t location = 0; location < profile_.locations.size(); ++location) {
            const std::size_t first = groups_.first_line_of(location);
            const std::span<const std::uint32_t> groups = groups_.of(location);
            for (std::size_t i = 0; i < groups.size(); ++i) {
                by_line[groups[i]][profile_.locations[location].lines[i].line] +=
                    value_of_line_[first + i];
            }
        }
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            std::pair<std::uint64_t, std::uint32_t> most;
            for (const auto& [line, value] : by_line[i]) {
                if (line != 0) most = std::max(most, {value, line});
            }
            rows_[i].group.line = most.second;
        }
    }

    const symbolize::NamedProfile& profile_;
    By by_;
    FrameGroups groups_;
    std::vector<std::size_t> last_stack_;  // by group: the stack that it was last met in
    std::vector<std::uint64_t> value_of_line_;
    std::vector<TableRow> rows_;
};

std::vector<TableRow> make_owner_table(const symbolize::NamedProfile& profile,
                                       const Grouping& grouping) {
    std::unordered_map<std::string, std::size_t> row_by_name;
    std::vector<TableRow> rows;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        std::string name = owner_name(stack.labels, grouping);
        const auto [found, is_new] = row_by_name.try_emplace(name, rows.size());
        if (is_new) rows.push_back({.group = {.name = std::move(name)}, .self = {}, .total = {}});
        rows[found->second].self += weight_of(stack);
    }
    for (TableRow& row : rows) row.total = row.self;
    return rows;
}

}  // namespace

std::vector<TableRow> make_table(const symbolize::NamedProfile& profile, const Grouping& grouping,
                                 Sort sort) {
    std::vector<TableRow> rows = groups_frames(grouping.by)
                                     ? FrameTable(profile, grouping.by).make()
                                     : make_owner_table(profile, grouping);
    const auto order = [sort](const TableRow& row) {
        const std::uint64_t first = sort == Sort::kSelf ? row.self.value : row.total.value;
        const std::uint64_t second = sort == Sort::kSelf ? row.total.value : row.self.value;
        return std::tuple(~first, ~second, std::string_view(row.group.name),
                          std::string_view(row.group.module), row.group.line);
    };
    std::ranges::stable_sort(rows, {}, order);
    return rows;
}

}  // namespace bobbin::report
