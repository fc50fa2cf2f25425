// SPDX-License-Identifier: Apache-2.0
#include "profile/function_frames.h"

#include <algorithm>
#include <string_view>

namespace bobbin::profile {

FunctionFrames::FunctionFrames(const symbolize::NamedProfile& profile) : profile_(profile) {
    using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
    std::map<Key, std::uint32_t> index_by_key;
    for (const symbolize::Location& location : profile.locations) {
        const std::string_view module = location.mapping < profile.mappings.size()
                                            ? profile.mappings[location.mapping].file
                                            : std::string_view();
        std::vector<std::uint32_t>& indexes = index_by_place_.emplace_back();
        for (const symbolize::Line& line : location.lines) {
            const symbolize::Function& function = profile.functions[line.function];
            const auto [found, is_new] =
                index_by_key.try_emplace(Key{function.name, module, function.file},
                                         static_cast<std::uint32_t>(frames_.size()));
            if (is_new) frames_.push_back({line.function, location.mapping, 0});
            indexes.push_back(found->second);
        }
    }
    set_lines();
}

void FunctionFrames::add_lines(std::uint32_t location_index, std::uint64_t value,
                               std::vector<ValueByLine>& values) const {
    const symbolize::Location& location = profile_.locations[location_index];
    for (std::size_t i = 0; i < location.lines.size(); ++i) {
        if (location.lines[i].line == 0) continue;
        values[index_of(location_index, i)][location.lines[i].line] += value;
    }
}

void FunctionFrames::set_lines() {
    std::vector<ValueByLine> values(frames_.size());
    for (const symbolize::NamedStack& stack : profile_.stacks) {
        for (const std::uint32_t index : stack.locations) add_lines(index, stack.value, values);
    }
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const auto hottest = std::ranges::max_element(
            values[i], {}, [](const auto& line_and_value) { return line_and_value.second; });
        if (hottest != values[i].end()) frames_[i].line = hottest->first;
    }
}

}  // namespace bobbin::profile
