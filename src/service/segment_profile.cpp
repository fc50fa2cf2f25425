// SPDX-License-Identifier: Apache-2.0
#include "service/segment_profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "daemon/summarize.h"
#include "profile/merge_profiles.h"
#include "service/counter_sums.h"

namespace bobbin::service {
namespace {

symbolize::NamedProfile name_counts(const Part& part, const daemon::RateCounts& counts,
                                    const NameCounted& name, std::vector<std::string>& losses) {
    daemon::NamedStacks named = name(part, counts.counted);
    symbolize::NamedProfile& profile = named.profile;
    profile.period = counts.period;
    for (symbolize::NamedStack& stack : profile.stacks) {
        stack.value = stack.count * static_cast<std::uint64_t>(counts.period.count());
    }
    profile.started = part.begin;
    profile.duration = part.duration;
    std::ranges::move(named.name_losses, std::back_inserter(losses));
    return std::move(profile);
}

std::string describe_rates(const Parts& parts) {
    std::set<std::chrono::nanoseconds> periods;
    for (const auto& part : parts) {
        for (const daemon::RateCounts& counts : part->by_rate) periods.insert(counts.period);
    }
    std::string text = "rate:";
    for (const auto period : periods) {
        text += fmt::format("{} {:.3g}", text.ends_with(':') ? "" : " to",
                            std::chrono::duration<double>{std::chrono::seconds{1}} / period);
    }
    return text + " Hz";
}

std::string describe_accounting(const Parts& parts) {
    abi::outcome_counters counters{};
    daemon::ResumedWalks resumed;
    daemon::WalkEndCounts ends{};
    for (const auto& part : parts) {
        counters = sum(counters, part->counters);
        resumed = sum(resumed, part->resumed);
        add_walk_ends(*part, ends);
    }
    return daemon::describe_accounting_between(counters, resumed, ends);
}

}  // namespace

symbolize::NamedProfile join_parts(const Parts& parts, const NameCounted& name,
                                   std::vector<std::string>& losses) {
    profile::ProfileMerger merger;
    for (const auto& part : parts) {
        for (const daemon::RateCounts& counts : part->by_rate) {
            // Where there are no samples, there is no say in the period and the times.
            if (counts.counted.sample_count == 0) continue;
            merger.add(name_counts(*part, counts, name, losses));
        }
    }
    return merger.take();
}

symbolize::NamedProfile make_segment_profile(const Segment& segment, const NameCounted& name) {
    std::vector<std::string> comments;
    symbolize::NamedProfile profile = join_parts(segment.parts, name, comments);
    if (profile.stacks.empty()) profile.started = segment.begin;
    profile.duration = segment.begin + segment.duration - profile.started;
    std::ranges::copy(segment.notes, std::back_inserter(comments));
    comments.push_back(describe_rates(segment.parts));
    comments.push_back(describe_accounting(segment.parts));
    profile.comments = std::move(comments);
    return profile;
}

}  // namespace bobbin::service
