// SPDX-License-Identifier: Apache-2.0
#include "profile/stack_collector.h"

#include <cstddef>
#include <utility>

namespace bobbin::profile {
namespace {

template <class T>
void append_bytes(std::string& key, const T& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void append_text(std::string& key, std::string_view text) {
    append_bytes(key, text.size());
    key.append(text);
}

template <class Table, class Make>
std::uint32_t index_of(std::unordered_map<std::string, std::uint32_t>& index, std::string key,
                       Table& table, Make make) {
    const auto [found, is_new] =
        index.try_emplace(std::move(key), static_cast<std::uint32_t>(table.size()));
    if (is_new) table.push_back(make());
    return found->second;
}

}  // namespace

std::uint32_t StackCollector::function(std::string_view name, std::string_view file) {
    std::string key;
    append_text(key, name);
    append_text(key, file);
    return index_of(functions_, std::move(key), profile_.functions, [&] {
        return symbolize::Function{std::string(name), std::string(name), std::string(file)};
    });
}

std::uint32_t StackCollector::mapping(std::string_view file) {
    return index_of(mappings_, std::string(file), profile_.mappings, [&] {
        // What stands in a text has its names.
        return symbolize::Mapping{.file = std::string(file), .has_functions = true};
    });
}

std::uint32_t StackCollector::location(const symbolize::Location& location) {
    std::string key;
    append_bytes(key, location.mapping);
    append_bytes(key, location.address);
    append_bytes(key, location.is_kernel);
    append_bytes(key, location.is_named);
    for (const symbolize::Line& line : location.lines) {
        append_bytes(key, line.function);
        append_bytes(key, line.line);
    }
    return index_of(locations_, std::move(key), profile_.locations, [&] { return location; });
}

std::uint32_t StackCollector::stack(const std::vector<std::uint32_t>& locations,
                                    const symbolize::SampleLabels& labels) {
    std::string key;
    append_bytes(key, labels.pid);
    append_bytes(key, labels.tid);
    append_bytes(key, labels.cpu);
    append_text(key, labels.comm);
    append_text(key, labels.thread);
    for (const std::uint32_t location : locations) append_bytes(key, location);
    return index_of(stacks_, std::move(key), profile_.stacks, [&] {
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
