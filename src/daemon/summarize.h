// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "bobbin/bpf_abi.h"
#include "cli/record_summary.h"
#include "executable/catalog.h"
#include "symbolize/named_profile.h"

namespace bobbin::daemon {

// What is known of a recording besides its samples.
struct RecordingFacts {
    std::uint32_t frequency_hz = 0;
    std::uint32_t cpu_count = 0;
    std::uint64_t process_count = 0;
    std::uint64_t bpf_map_bytes = 0;
    abi::outcome_counters counters{};
};

cli::RecordSummary summarize(const symbolize::NamedProfile& profile,
                             const executable::Catalog& catalog, const RecordingFacts& facts);

// The kernel side's counters as the array that is passed around.
std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT> outcomes_of(
    const abi::outcome_counters& counters);

// "accounting: ticks=100 emitted=98 ring_full=2 ... stack_bottom=97 stack_file_not_ready=1": every
// tick and what became of it, and how the stacks of the samples ended, for the
// comments of the profile. ticks is the sum of the rest.
std::string describe_accounting(const abi::outcome_counters& counters);

}  // namespace bobbin::daemon
