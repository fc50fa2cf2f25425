// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "daemon/counts_by_rate.h"
#include "daemon/resumed_walks.h"
#include "daemon/sampling.h"

namespace bobbin::service {

class SegmentStore;

// What was counted in one stretch of time. Never changed once it is made.
struct Part {
    std::shared_ptr<const daemon::Sampling> sampling;  // knows its files and processes
    std::uint64_t stack_bytes = 0;                     // that `by_rate` takes, about
    std::vector<daemon::RateCounts> by_rate;
    std::chrono::system_clock::time_point begin;
    std::chrono::nanoseconds duration{};
    // What the kernel side counted meanwhile, and what became of walks that it paused.
    abi::outcome_counters counters{};
    daemon::ResumedWalks resumed;
};

// Of all its samples, whatever their rate.
inline void add_walk_ends(const Part& part, std::array<std::uint64_t, abi::WALK_END_COUNT>& to) {
    for (const daemon::RateCounts& counts : part.by_rate) {
        for (std::size_t i = 0; i < to.size(); ++i) to.at(i) += counts.counted.by_walk_end.at(i);
    }
}

using Parts = std::vector<std::shared_ptr<const Part>>;  // oldest first

// One stretch of recording that is stored as one: parts without a gap between them.
struct Segment {
    Parts parts;
    std::chrono::system_clock::time_point begin;
    std::chrono::nanoseconds duration{};
    std::vector<std::string> notes;  // for its comments: why the rate is not the configured one
    std::shared_ptr<SegmentStore> store;  // that it is kept in
};

}  // namespace bobbin::service
