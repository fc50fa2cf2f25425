// SPDX-License-Identifier: Apache-2.0
#include "profile/stack_collector.h"

#include <utility>

#include "profile/table_keys.h"

namespace bobbin::profile {

std::uint32_t StackCollector::function(std::string_view name, std::string_view file) {
    symbolize::Function function{std::string(name), std::string(name), std::string(file)};
    return place_of(functions_, key_of(function), profile_.functions,
                    [&] { return std::move(function); });
}

std::uint32_t StackCollector::mapping(std::string_view file) {
    return place_of(mappings_, std::string(file), profile_.mappings, [&] {
        // What stands in a text has its names.
        return symbolize::Mapping{.file = std::string(file), .has_functions = true};
    });
}

std::uint32_t StackCollector::location(const symbolize::Location& location) {
    return place_of(locations_, key_of(location), profile_.locations, [&] { return location; });
}

std::uint32_t StackCollector::stack(const std::vector<std::uint32_t>& locations,
                                    const symbolize::SampleLabels& labels) {
    std::string key = key_of(labels);
    for (const std::uint32_t location : locations) append_number(key, location);
    return place_of(stacks_, std::move(key), profile_.stacks, [&] {
        return symbolize::NamedStack{.locations = locations, .labels = labels};
    });
}

symbolize::NamedProfile StackCollector::take() {
    for (const symbolize::NamedStack& stack : profile_.stacks) {
        profile_.sample_count += stack.count;
        profile_.by_walk_end.at(stack.walk_end) += stack.count;
    }
    return std::move(profile_);
}

}  // namespace bobbin::profile
