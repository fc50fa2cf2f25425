// SPDX-License-Identifier: Apache-2.0
#include "report/filter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bobbin::report {
namespace {

// What one pattern says of each function and each module, asked once.
class Matches {
public:
    Matches(const Pattern& pattern, const symbolize::NamedProfile& profile) {
        functions_.reserve(profile.functions.size());
        for (const symbolize::Function& function : profile.functions) {
            functions_.push_back(pattern.matches(function.name) || pattern.matches(function.file));
        }
        for (const symbolize::Mapping& mapping : profile.mappings) {
            modules_.push_back(pattern.matches(mapping.file));
        }
    }

    [[nodiscard]] bool module_of(const symbolize::Location& location) const {
        return location.mapping < modules_.size() && modules_[location.mapping];
    }
    [[nodiscard]] bool function_of(const symbolize::Line& line) const {
        return functions_[line.function];
    }
    [[nodiscard]] bool any_of(const symbolize::Location& location) const {
        return module_of(location) ||
               std::ranges::any_of(location.lines,
                                   [&](const symbolize::Line& line) { return function_of(line); });
    }

private:
    std::vector<bool> functions_;
    std::vector<bool> modules_;
};

using LocationSet = std::vector<bool>;  // by index

LocationSet locations_that_match(const Pattern& pattern, const symbolize::NamedProfile& profile) {
    const Matches matches(pattern, profile);
    LocationSet set;
    set.reserve(profile.locations.size());
    for (const symbolize::Location& location : profile.locations) {
        set.push_back(matches.any_of(location));
    }
    return set;
}

bool has_any(const symbolize::NamedStack& stack, const LocationSet& set) {
    return std::ranges::any_of(stack.locations,
                               [&](std::uint32_t location) { return set[location]; });
}

void keep_stacks_with(const LocationSet& set, bool wanted, symbolize::NamedProfile& profile) {
    std::erase_if(profile.stacks, [&](const symbolize::NamedStack& stack) {
        return has_any(stack, set) != wanted;
    });
}

void hide(const Pattern& pattern, symbolize::NamedProfile& profile) {
    const Matches matches(pattern, profile);
    LocationSet hidden;
    hidden.reserve(profile.locations.size());
    for (symbolize::Location& location : profile.locations) {
        const auto is_hidden = [&](const symbolize::Line& line) {
            return matches.function_of(line);
        };
        const bool whole =
            matches.module_of(location) || std::ranges::all_of(location.lines, is_hidden);
        // No stack shows a location that is hidden as a whole, and lines are never empty.
        if (!whole) std::erase_if(location.lines, is_hidden);
        hidden.push_back(whole);
    }
    std::erase_if(profile.stacks, [&](symbolize::NamedStack& stack) {
        const auto gone = std::erase_if(stack.locations,
                                        [&](std::uint32_t location) { return hidden[location]; });
        return gone > 0 && stack.locations.empty();
    });
}

void show_from(const Pattern& pattern, symbolize::NamedProfile& profile) {
    const Matches matches(pattern, profile);
    LocationSet shown;
    shown.reserve(profile.locations.size());
    for (symbolize::Location& location : profile.locations) {
        const bool module = matches.module_of(location);
        const auto outermost =
            std::find_if(location.lines.rbegin(), location.lines.rend(),
                         [&](const symbolize::Line& line) { return matches.function_of(line); });
        const bool function = outermost != location.lines.rend();
        if (!module && function) location.lines.erase(outermost.base(), location.lines.end());
        shown.push_back(module || function);
    }
    std::erase_if(profile.stacks, [&](symbolize::NamedStack& stack) {
        const auto outermost =
            std::find_if(stack.locations.rbegin(), stack.locations.rend(),
                         [&](std::uint32_t location) { return shown[location]; });
        stack.locations.erase(outermost.base(), stack.locations.end());
        return stack.locations.empty();
    });
}

void count_again(symbolize::NamedProfile& profile) {
    profile.sample_count = 0;
    profile.by_walk_end = {};
    for (const symbolize::NamedStack& stack : profile.stacks) {
        profile.sample_count += stack.count;
        profile.by_walk_end.at(stack.walk_end) += stack.count;
    }
}

}  // namespace

void apply(const Filter& filter, symbolize::NamedProfile& profile) {
    if (filter.focus) {
        keep_stacks_with(locations_that_match(*filter.focus, profile), true, profile);
    }
    if (filter.ignore) {
        keep_stacks_with(locations_that_match(*filter.ignore, profile), false, profile);
    }
    if (filter.hide) hide(*filter.hide, profile);
    if (filter.show_from) show_from(*filter.show_from, profile);
    count_again(profile);
}

}  // namespace bobbin::report
