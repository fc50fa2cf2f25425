// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "aggregate/stack_counts.h"
#include "bobbin/bpf_abi.h"
#include "daemon/resumed_walks.h"
#include "daemon/sampling.h"

namespace bobbin::service {

// What was counted in one stretch of time at one rate, so that each sample stands for the same
// time. Never changed once it is made.
struct Part {
    std::shared_ptr<const daemon::Sampling> sampling;  // knows its files and processes
    std::uint64_t stack_bytes = 0;                     // that `counted` takes, about
    aggregate::CountedStacks counted;
    std::chrono::nanoseconds period{};
    std::chrono::system_clock::time_point begin;
    std::chrono::nanoseconds duration{};
    // What the kernel side counted meanwhile, and what became of walks that it paused.
    abi::outcome_counters counters{};
    daemon::ResumedWalks resumed;
};

using Parts = std::vector<std::shared_ptr<const Part>>;  // oldest first

// One stretch of recording that is stored as one: parts without a gap between them.
struct Segment {
    Parts parts;
    std::chrono::system_clock::time_point begin;
    std::chrono::nanoseconds duration{};
    std::vector<std::string> notes;  // for its comments: why the rate is not the configured one
};

}  // namespace bobbin::service
