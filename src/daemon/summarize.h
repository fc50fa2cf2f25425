// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "bobbin/bpf_abi.h"
#include "cli/record_summary.h"
#include "daemon/resumed_walks.h"
#include "executable/catalog.h"
#include "executable/open_file.h"
#include "symbolize/named_profile.h"

namespace bobbin::daemon {

using WalkEndCounts = std::array<std::uint64_t, abi::WALK_END_COUNT>;

// What is known of a recording besides its samples.
struct RecordingFacts {
    std::uint32_t frequency_hz = 0;
    std::uint32_t cpu_count = 0;
    std::uint64_t process_count = 0;
    std::uint64_t bpf_map_bytes = 0;
    abi::outcome_counters counters{};
    ResumedWalks resumed;
    WalkEndCounts shortened_from{};  // aggregate::CountedStacks
    executable::LostFileCounts lost_files{};
};

// User and system time of this process, all threads.
std::chrono::nanoseconds own_cpu_time();

cli::RecordSummary summarize(const symbolize::NamedProfile& profile,
                             const executable::Catalog& catalog, const RecordingFacts& facts);

// The kernel side's counters as the array that is passed around.
std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT> outcomes_of(
    const abi::outcome_counters& counters);

// "accounting: ticks=100 emitted=98 ring_full=2 ... stack_bottom=97 stack_file_not_ready=1
// stack_copies=5 resumed=4": every tick and what became of it, and how the stacks of the samples
// ended, in the kernel or later, for the comments of the profile. ticks is the sum of the outcomes
// of ticks, emitted that of the ends of stacks.
std::string describe_accounting(const abi::outcome_counters& counters, const ResumedWalks& resumed,
                                const WalkEndCounts& shortened_from);

// The same of one stretch of a longer recording: `counters` and `resumed` tell what came meanwhile,
// `ends` of the samples that were counted meanwhile. A sample that was taken just before, or waited
// for a table, is counted in the next stretch: the sums over all of them agree.
std::string describe_accounting_between(const abi::outcome_counters& counters,
                                        const ResumedWalks& resumed, const WalkEndCounts& ends);

}  // namespace bobbin::daemon
