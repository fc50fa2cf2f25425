// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/pprof.h"

namespace bobbin::profile {
namespace {

using CountedLine = std::pair<std::string, std::uint64_t>;

// ';' separates frames and a newline ends the stack; neither may come from a name.
void append_frame(std::string& line, std::string_view name) {
    std::transform(name.begin(), name.end(), std::back_inserter(line), [](char c) {
        if (c == ';') return ':';
        return static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    });
}

std::string fold(const symbolize::NamedProfile& profile, const symbolize::NamedStack& stack) {
    std::string line;
    append_frame(line, stack.labels.comm.empty() ? "[unknown]" : stack.labels.comm);
    for (const std::uint32_t index : std::views::reverse(stack.locations)) {
        const symbolize::Location& location = profile.locations[index];
        for (const symbolize::Line& at : std::views::reverse(location.lines)) {
            line += ';';
            append_frame(line, profile.functions[at.function].name);
            if (location.is_kernel) line += "_[k]";
        }
    }
    return line;
}

}  // namespace

std::string encode_folded(const symbolize::NamedProfile& profile) {
    // Of CPU time samples are shown, as flame-graph tools have them; of the rest what was asked
    // for.
    const bool is_cpu_time = profile.value_type == symbolize::ValueType{};
    std::vector<CountedLine> lines;
    lines.reserve(profile.stacks.size());
    for (const symbolize::NamedStack& stack : profile.stacks) {
        lines.emplace_back(fold(profile, stack), is_cpu_time ? stack.count : stack.value);
    }
    std::sort(lines.begin(), lines.end());

    std::string text;
    for (auto line = lines.begin(); line != lines.end();) {
        std::uint64_t count = 0;
        const auto first = line;
        for (; line != lines.end() && line->first == first->first; ++line) count += line->second;
        text.append(first->first).append(" ").append(std::to_string(count)).append("\n");
    }
    return text;
}

}  // namespace bobbin::profile
