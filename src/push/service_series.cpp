// SPDX-License-Identifier: Apache-2.0
#include "push/service_series.h"

#include <map>
#include <utility>

#include "profile/merge_profiles.h"

namespace bobbin::push {

std::string service_name(const symbolize::SampleLabels& labels) {
    if (!labels.unit.empty()) return labels.unit;
    if (!labels.container.empty()) return labels.container;
    return labels.comm.empty() ? "unknown" : labels.comm;
}

std::vector<Series> split_by_service(const symbolize::NamedProfile& profile, const Labels& labels) {
    std::map<std::string, std::vector<const symbolize::NamedStack*>> by_name;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        by_name[service_name(stack.labels)].push_back(&stack);
    }
    symbolize::NamedProfile part = profile;
    std::vector<Series> all;
    for (const auto& [name, stacks] : by_name) {
        part.stacks.clear();
        part.sample_count = 0;
        part.by_walk_end.fill(0);
        for (const symbolize::NamedStack* const stack : stacks) {
            part.stacks.push_back(*stack);
            part.sample_count += stack->count;
            part.by_walk_end.at(stack->walk_end) += stack->count;
        }
        // Leaves out the tables of the others.
        profile::ProfileMerger merger;
        merger.add(part);
        Series& series = all.emplace_back(Series{.labels = labels, .profile = merger.take()});
        series.labels["service_name"] = name;
    }
    return all;
}

}  // namespace bobbin::push
