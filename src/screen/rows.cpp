// SPDX-License-Identifier: Apache-2.0
#include "screen/rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "report/grouping.h"

namespace bobbin::screen {
namespace {

// Rows by process's name and function, both as numbers.
class FunctionRows {
public:
    explicit FunctionRows(const symbolize::NamedProfile& profile)
        : profile_(profile), frames_(profile, report::By::kFunction) {}

    std::vector<Row> make() {
        for (std::size_t i = 0; i < profile_.stacks.size(); ++i) add(i);
        return std::move(rows_);
    }

private:
    void add(std::size_t stack_number) {
        const symbolize::NamedStack& stack = profile_.stacks[stack_number];
        const auto next = static_cast<std::uint32_t>(process_numbers_.size());
        const auto process = process_numbers_.try_emplace(stack.labels.comm, next).first;
        bool is_innermost = true;
        for (const std::uint32_t location : stack.locations) {
            for (const std::uint32_t group : frames_.of(location)) {
                const std::size_t row = row_of(process->second, stack.labels.comm, group);
                if (std::exchange(is_innermost, false)) rows_[row].self_count += stack.count;
                if (std::exchange(last_stack_[row], stack_number) == stack_number) continue;
                rows_[row].total_count += stack.count;
            }
        }
    }

    std::size_t row_of(std::uint32_t process, const std::string& name, std::uint32_t group) {
        const std::uint64_t key = std::uint64_t{process} << 32 | group;
        const auto [found, is_new] = row_by_key_.try_emplace(key, rows_.size());
        if (is_new) {
            const report::Group& of = frames_.groups()[group];
            rows_.push_back({.process = name,
                             .function = of.name,
                             .module = of.module,
                             .is_kernel = of.is_kernel});
            last_stack_.push_back(SIZE_MAX);
        }
        return found->second;
    }

    const symbolize::NamedProfile& profile_;
    report::FrameGroups frames_;
    std::unordered_map<std::string_view, std::uint32_t> process_numbers_;
    std::unordered_map<std::uint64_t, std::size_t> row_by_key_;
    std::vector<std::size_t> last_stack_;  // by row: the stack that it was last met in
    std::vector<Row> rows_;
};

struct ProcessCounts {
    std::uint64_t count = 0;
    std::string_view comm;
    std::unordered_map<std::uint32_t, std::uint64_t> count_by_innermost;  // group
};

// Equal ones always in one order: rows that change places for nothing make the screen flicker.
void sort_rows(std::vector<Row>& rows, report::Sort sort) {
    std::ranges::sort(rows, {}, [sort](const Row& row) {
        const bool by_self = sort == report::Sort::kSelf;
        return std::tuple(by_self ? ~row.self_count : ~row.total_count,
                          by_self ? ~row.total_count : ~row.self_count,
                          std::string_view(row.function), std::string_view(row.process),
                          std::string_view(row.module));
    });
}

}  // namespace

std::vector<Row> make_function_rows(const symbolize::NamedProfile& profile, report::Sort sort) {
    std::vector<Row> rows = FunctionRows(profile).make();
    sort_rows(rows, sort);
    return rows;
}

std::vector<Row> make_process_rows(const symbolize::NamedProfile& profile) {
    const report::FrameGroups frames(profile, report::By::kFunction);
    std::unordered_map<std::uint32_t, ProcessCounts> by_pid;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        ProcessCounts& process = by_pid[stack.labels.pid];
        process.count += stack.count;
        process.comm = stack.labels.comm;
        if (stack.locations.empty()) continue;
        process.count_by_innermost[frames.of(stack.locations.front()).front()] += stack.count;
    }
    std::vector<Row> rows;
    rows.reserve(by_pid.size());
    for (const auto& [pid, process] : by_pid) {
        Row row{.process = fmt::format("{} ({})", process.comm, pid),
                .self_count = process.count,
                .total_count = process.count};
        std::pair<std::uint64_t, std::uint32_t> most;
        for (const auto& [group, count] : process.count_by_innermost) {
            most = std::max(most, {count, group});
        }
        if (most.first > 0) {
            const report::Group& group = frames.groups()[most.second];
            row.function = group.name;
            row.module = group.module;
            row.is_kernel = group.is_kernel;
        }
        rows.push_back(std::move(row));
    }
    sort_rows(rows, report::Sort::kTotal);
    return rows;
}

void keep_matching(const report::Pattern& pattern, std::vector<Row>& rows) {
    std::erase_if(rows, [&](const Row& row) {
        return !pattern.matches(row.function) && !pattern.matches(row.process) &&
               !pattern.matches(row.module);
    });
}

void keep_matching(const report::Pattern& pattern, symbolize::NamedProfile& profile) {
    std::vector<bool> functions;
    functions.reserve(profile.functions.size());
    for (const symbolize::Function& function : profile.functions) {
        functions.push_back(pattern.matches(function.name));
    }
    std::vector<bool> modules;
    modules.reserve(profile.mappings.size());
    for (const symbolize::Mapping& mapping : profile.mappings) {
        modules.push_back(pattern.matches(mapping.file));
    }
    std::vector<bool> locations;
    locations.reserve(profile.locations.size());
    for (const symbolize::Location& location : profile.locations) {
        locations.push_back(modules[location.mapping] ||
                            std::ranges::any_of(location.lines, [&](const symbolize::Line& line) {
                                return functions[line.function];
                            }));
    }
    std::erase_if(profile.stacks, [&](const symbolize::NamedStack& stack) {
        return !pattern.matches(stack.labels.comm) &&
               std::ranges::none_of(stack.locations,
                                    [&](std::uint32_t location) { return locations[location]; });
    });
}

std::string_view basename_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace bobbin::screen
