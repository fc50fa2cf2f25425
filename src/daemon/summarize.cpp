// SPDX-License-Identifier: Apache-2.0
#include "daemon/summarize.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "report/advice.h"
#include "report/explain.h"

namespace bobbin::daemon {
namespace {

constexpr std::size_t kHottestShown = 3;

std::chrono::nanoseconds to_duration(const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Entries by falling weight; equal ones in the order of their keys.
template <class Key>
std::vector<std::pair<Key, std::uint64_t>> by_weight(const std::map<Key, std::uint64_t>& weights) {
    std::vector<std::pair<Key, std::uint64_t>> sorted(weights.begin(), weights.end());
    std::ranges::stable_sort(sorted, std::ranges::greater{},
                             &std::pair<Key, std::uint64_t>::second);
    return sorted;
}

void count_names(const symbolize::NamedProfile& profile, cli::RecordSummary& summary) {
    const report::Explanation explanation = report::explain(profile);
    summary.frame_count = explanation.frame_count;
    summary.named_frame_count = explanation.named_frame_count;
    for (const report::Problem& problem : report::problems_of(explanation)) {
        if (problem.kind != report::Problem::Kind::kNames) continue;
        const report::ModuleFacts& module = explanation.modules[problem.module];
        const std::string_view runtime = report::name_of(module.runtime);
        summary.unnamed_modules.push_back(
            {.module =
                 runtime.empty() ? module.module : fmt::format("{} of {}", module.module, runtime),
             .share_of_frames = problem.share,
             .run = report::advise(problem, module, {}).run});
    }
}

void find_hottest(const symbolize::NamedProfile& profile, cli::RecordSummary& summary) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> leaves;
    for (const auto& stack : profile.stacks) {
        if (stack.locations.empty()) continue;
        const auto& leaf = profile.locations[stack.locations.front()];
        const auto& function = profile.functions[leaf.lines.front().function];
        leaves[{stack.labels.comm, function.name}] += stack.count;
    }
    for (const auto& [place, samples] : by_weight(leaves)) {
        if (summary.hottest.size() == kHottestShown) break;
        summary.hottest.push_back({.process = place.first,
                                   .function = place.second,
                                   .share_of_samples = share(samples, profile.sample_count)});
    }
}

// Those that were resumed ended once in the kernel, by pausing, and once here.
std::array<std::uint64_t, abi::WALK_END_COUNT> final_ends(const abi::outcome_counters& counters,
                                                          const ResumedWalks& resumed,
                                                          const WalkEndCounts& shortened_from) {
    std::array<std::uint64_t, abi::WALK_END_COUNT> ends{};
    std::ranges::copy(counters.by_walk_end, ends.begin());
    ends.at(abi::WALK_END_FILE_NOT_READY) -= resumed.count();
    for (std::size_t i = 0; i < ends.size(); ++i) ends.at(i) += resumed.by_walk_end.at(i);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        ends.at(i) -= shortened_from.at(i);
        ends.at(abi::WALK_END_NO_MEMORY) += shortened_from.at(i);
    }
    return ends;
}

void measure_own_cost(const abi::outcome_counters& counters, cli::RecordSummary& summary) {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    summary.own_cpu_time = own_cpu_time();
    summary.peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    summary.bpf_time = std::chrono::nanoseconds{counters.tick_time_ns};
}

}  // namespace

std::chrono::nanoseconds own_cpu_time() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return to_duration(usage.ru_utime) + to_duration(usage.ru_stime);
}

cli::RecordSummary summarize(const symbolize::NamedProfile& profile,
                             const executable::Catalog& catalog, const RecordingFacts& facts) {
    cli::RecordSummary summary;
    summary.duration = profile.duration;
    summary.frequency_hz = facts.frequency_hz;
    summary.cpu_count = facts.cpu_count;
    summary.process_count = facts.process_count;
    summary.sample_count = profile.sample_count;
    summary.by_tick_outcome = outcomes_of(facts.counters);
    summary.by_walk_end = profile.by_walk_end;
    count_names(profile, summary);
    find_hottest(profile, summary);
    for (const auto& executable : catalog.all()) {
        if (executable->refused.empty()) continue;
        summary.refused_files.push_back({.path = executable->path, .reason = executable->refused});
    }
    summary.lost_files = facts.lost_files;
    summary.announcements_lost = facts.counters.announcements_lost;
    measure_own_cost(facts.counters, summary);
    summary.bpf_map_bytes = facts.bpf_map_bytes;
    return summary;
}

std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT> outcomes_of(
    const abi::outcome_counters& counters) {
    std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT> outcomes{};
    std::ranges::copy(counters.by_tick_outcome, outcomes.begin());
    return outcomes;
}

std::string describe_accounting_between(const abi::outcome_counters& counters,
                                        const ResumedWalks& resumed, const WalkEndCounts& ends) {
    static constexpr std::array<const char*, abi::TICK_OUTCOME_COUNT> kNames = {
#define X(enumerator, name, text) name,
        BOBBIN_TICK_OUTCOMES(X)
#undef X
    };
    static constexpr std::array<const char*, abi::WALK_END_COUNT> kWalkEndNames = {
#define X(enumerator, name, text) name,
        BOBBIN_WALK_ENDS(X)
#undef X
    };
    std::string text = fmt::format("accounting: ticks={}", counters.ticks);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        text += fmt::format(" {}={}", kNames[i], counters.by_tick_outcome[i]);
    }
    text += fmt::format(" announcements_lost={}", counters.announcements_lost);
    for (std::size_t i = 0; i < kWalkEndNames.size(); ++i) {
        if (ends.at(i) != 0) text += fmt::format(" stack_{}={}", kWalkEndNames.at(i), ends.at(i));
    }
    return text + fmt::format(
                      " stack_copies={} resumed={} stack_copies_left_out={} "
                      "stack_copies_displaced={}",
                      counters.stack_copies, resumed.count(), counters.stack_copies_left_out,
                      resumed.displaced_count);
}

std::string describe_accounting(const abi::outcome_counters& counters, const ResumedWalks& resumed,
                                const WalkEndCounts& shortened_from) {
    return describe_accounting_between(counters, resumed,
                                       final_ends(counters, resumed, shortened_from));
}

}  // namespace bobbin::daemon
