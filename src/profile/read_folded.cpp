// SPDX-License-Identifier: Apache-2.0
#include "profile/read_folded.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "profile/stack_collector.h"
#include "profile/text_lines.h"

namespace bobbin::profile {
namespace {

bool cut_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

class FoldedReader {
public:
    Result<symbolize::NamedProfile> read(std::string_view text) {
        TextLines lines(text);
        while (const auto line = lines.next()) {
            const std::string_view trimmed = trim(*line);
            if (trimmed.empty() || trimmed.starts_with('#')) continue;
            if (!add(trimmed)) {
                return fail(
                    "line {}: expected a folded stack, \"process;function 42\", and found {}",
                    lines.number(), trimmed.substr(0, kMaxQuoted));
            }
        }
        symbolize::NamedProfile profile = collector_.take();
        profile.value_type = profile.count_type;
        return profile;
    }

private:
    bool add(std::string_view line) {
        const std::size_t blank = line.find_last_of(kBlanks);
        if (blank == std::string_view::npos) return false;
        const auto count = parse_number<std::uint64_t>(line.substr(blank + 1));
        if (!count) return false;
        std::string_view frames = trim(line.substr(0, blank));

        symbolize::SampleLabels labels;
        const std::size_t first_end = std::min(frames.find(';'), frames.size());
        labels.comm = frames.substr(0, first_end);
        frames.remove_prefix(std::min(first_end + 1, frames.size()));
        symbolize::NamedStack& stack =
            collector_.at(collector_.stack(locations_of(frames), labels));
        stack.count += *count;
        stack.value += *count;
        return true;
    }

    std::vector<std::uint32_t> locations_of(std::string_view frames) {
        std::vector<symbolize::Location> root_first;
        while (!frames.empty()) {
            const std::size_t end = std::min(frames.find(';'), frames.size());
            add_frame(frames.substr(0, end), root_first);
            frames.remove_prefix(std::min(end + 1, frames.size()));
        }
        std::vector<std::uint32_t> locations;
        for (symbolize::Location& place : std::views::reverse(root_first)) {
            std::ranges::reverse(place.lines);
            locations.push_back(collector_.location(place));
        }
        return locations;
    }

    void add_frame(std::string_view name, std::vector<symbolize::Location>& root_first) {
        const bool is_kernel = cut_suffix(name, "_[k]");
        const bool is_inlined = !is_kernel && cut_suffix(name, "_[i]");
        if (!is_inlined || root_first.empty()) {
            root_first.push_back({.mapping = collector_.mapping(is_kernel ? "[kernel]" : ""),
                                  .is_named = name != "[unknown]",
                                  .is_kernel = is_kernel});
        }
        root_first.back().lines.push_back({collector_.function(name), 0});
    }

    StackCollector collector_;
};

}  // namespace

Result<symbolize::NamedProfile> read_folded(std::string_view text) {
    return FoldedReader().read(text);
}

}  // namespace bobbin::profile
