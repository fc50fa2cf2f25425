// SPDX-License-Identifier: Apache-2.0
#include "report/grouping.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "profile/string_table.h"

namespace bobbin::report {
namespace {

constexpr std::string_view kNotKnown = "[not known]";
constexpr std::string_view kNone = "[none]";

std::string or_else(const std::string& text, std::string_view instead) {
    return text.empty() ? std::string(instead) : text;
}

// The parts of a line's place that tell groups apart; the others are left empty.
Group group_of(const symbolize::NamedProfile& profile, const symbolize::Location& location,
               const symbolize::Line& line, By by) {
    const symbolize::Function& function = profile.functions[line.function];
    const std::string module = location.mapping < profile.mappings.size()
                                   ? profile.mappings[location.mapping].file
                                   : std::string();
    switch (by) {
        case By::kFunction:
            return {.name = function.name, .module = module, .file = function.file};
        case By::kLine:
            return {
                .name = function.name, .module = module, .file = function.file, .line = line.line};
        case By::kFile:
            return {.name = or_else(function.file, kNotKnown)};
        default:
            return {.name = or_else(module, kNotKnown)};
    }
}

// Every group once.
class GroupNumbers {
public:
    explicit GroupNumbers(std::vector<Group>& groups) : groups_(groups) {}

    std::uint32_t number_of(Group group) {
        const Key key{texts_.index_of(group.name), texts_.index_of(group.module),
                      texts_.index_of(group.file), group.line};
        const auto [found, is_new] =
            number_by_key_.try_emplace(key, static_cast<std::uint32_t>(groups_.size()));
        if (is_new) {
            groups_.push_back(std::move(group));
            return found->second;
        }
        Group& met = groups_[found->second];
        met.is_inlined = met.is_inlined && group.is_inlined;
        met.is_kernel = met.is_kernel || group.is_kernel;
        return found->second;
    }

private:
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint32_t>;

    std::vector<Group>& groups_;
    profile::StringTable texts_;
    std::map<Key, std::uint32_t> number_by_key_;
};

std::string name_with_number(const std::string& name, std::uint32_t number) {
    if (name.empty() && number == 0) return std::string(kNotKnown);
    return fmt::format("{} ({})", or_else(name, kNotKnown), number);
}

std::string value_of_label(const symbolize::SampleLabels& labels, const std::string& key) {
    for (const auto& [other, value] : labels.others) {
        if (other == key) return or_else(value, kNone);
    }
    const std::map<std::string_view, std::string> known{{"comm", labels.comm},
                                                        {"thread", labels.thread},
                                                        {"cgroup", labels.cgroup},
                                                        {"unit", labels.unit},
                                                        {"container", labels.container},
                                                        {"pid", std::to_string(labels.pid)},
                                                        {"tid", std::to_string(labels.tid)},
                                                        {"cpu", std::to_string(labels.cpu)}};
    const auto found = known.find(key);
    return found == known.end() ? std::string(kNone) : or_else(found->second, kNone);
}

}  // namespace

bool groups_frames(By by) {
    return by == By::kFunction || by == By::kLine || by == By::kFile || by == By::kModule;
}

FrameGroups::FrameGroups(const symbolize::NamedProfile& profile, By by) {
    GroupNumbers numbers(groups_);
    first_line_.reserve(profile.locations.size() + 1);
    for (const symbolize::Location& location : profile.locations) {
        first_line_.push_back(group_of_line_.size());
        for (std::size_t i = 0; i < location.lines.size(); ++i) {
            Group group = group_of(profile, location, location.lines[i], by);
            group.is_inlined = i + 1 < location.lines.size();
            group.is_kernel = location.is_kernel;
            group_of_line_.push_back(numbers.number_of(std::move(group)));
        }
    }
    first_line_.push_back(group_of_line_.size());
}

std::string owner_name(const symbolize::SampleLabels& labels, const Grouping& grouping) {
    switch (grouping.by) {
        case By::kProcess:
            return name_with_number(labels.comm, labels.pid);
        case By::kThread:
            return name_with_number(labels.thread.empty() ? labels.comm : labels.thread,
                                    labels.tid);
        case By::kUnit:
            return or_else(labels.unit, kNone);
        case By::kCpu:
            return std::to_string(labels.cpu);
        case By::kContainer:
            return or_else(labels.container, kNone);
        default:
            return value_of_label(labels, grouping.label_key);
    }
}

}  // namespace bobbin::report
