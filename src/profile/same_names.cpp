// SPDX-License-Identifier: Apache-2.0
#include "profile/same_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include "base/base_name.h"

namespace bobbin::profile {
namespace {

using Names = std::set<std::string, std::less<>>;

// Those that only `a` has.
std::vector<std::string> only_in(const Names& a, const Names& b) {
    std::vector<std::string> only;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    return only;
}

bool is_program(std::string_view module) {
    return !module.empty() && !module.starts_with('[') && !module.ends_with(".so");
}

// Every name, with the samples it has a part in.
struct Occurrences {
    std::map<std::string, std::uint64_t, std::less<>> count_by_name;
    std::uint64_t all = 0;

    [[nodiscard]] Names names() const {
        Names names;
        for (const auto& [name, count] : count_by_name) names.insert(name);
        return names;
    }
    // What starts a program has a sample in its recording, too.
    [[nodiscard]] Names frequent() const {
        Names names;
        for (const auto& [name, count] : count_by_name) {
            if (count * 100 >= all) names.insert(name);
        }
        return names;
    }
};

Occurrences programs_of(const symbolize::NamedProfile& profile) {
    std::vector<std::uint64_t> count_by_mapping(profile.mappings.size());
    Occurrences programs;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        programs.all += stack.count;
        std::set<std::uint32_t> mappings;
        for (const std::uint32_t location : stack.locations) {
            mappings.insert(profile.locations[location].mapping);
        }
        for (const std::uint32_t mapping : mappings) {
            if (mapping < count_by_mapping.size()) count_by_mapping[mapping] += stack.count;
        }
    }
    for (std::size_t i = 0; i < profile.mappings.size(); ++i) {
        const std::string_view module = module_without_version(profile.mappings[i].file);
        if (is_program(module)) programs.count_by_name[std::string(module)] += count_by_mapping[i];
    }
    return programs;
}

Occurrences processes_of(const symbolize::NamedProfile& profile) {
    Occurrences processes;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        processes.all += stack.count;
        processes.count_by_name[stack.labels.comm] += stack.count;
    }
    return processes;
}

std::map<std::string, std::string, std::less<>> pair_up(const Occurrences& fresh,
                                                        const Occurrences& base) {
    const std::vector<std::string> added = only_in(fresh.frequent(), base.names());
    const std::vector<std::string> gone = only_in(base.frequent(), fresh.names());
    if (added.size() != 1 || gone.size() != 1) return {};
    return {{gone.front(), added.front()}};
}

}  // namespace

std::string_view module_without_version(std::string_view path) {
    const std::string_view name = base_name(path);
    const std::size_t version = name.find(".so.");
    return version == std::string_view::npos ? name : name.substr(0, version + 3);
}

SameNames::SameNames(const symbolize::NamedProfile& profile, const symbolize::NamedProfile& base)
    : modules_(pair_up(programs_of(profile), programs_of(base))),
      processes_(pair_up(processes_of(profile), processes_of(base))) {}

std::string SameNames::module_of(const symbolize::NamedProfile& profile,
                                 const symbolize::Location& location) const {
    if (location.mapping >= profile.mappings.size()) return {};
    const std::string_view module = module_without_version(profile.mappings[location.mapping].file);
    const auto renamed = modules_.find(module);
    return renamed == modules_.end() ? std::string(module) : renamed->second;
}

std::string SameNames::function_of(const symbolize::NamedProfile& profile,
                                   const symbolize::Location& location,
                                   const symbolize::Line& line) const {
    if (location.is_named) return profile.functions[line.function].name;
    return fmt::format("[no name in {}]", module_of(profile, location));
}

std::string SameNames::process_of(const symbolize::SampleLabels& labels) const {
    const auto renamed = processes_.find(labels.comm);
    return renamed == processes_.end() ? labels.comm : renamed->second;
}

}  // namespace bobbin::profile
