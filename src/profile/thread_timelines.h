// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "symbolize/named_profile.h"

namespace bobbin::profile {

// The samples of one stack that came in one span of time, laid on their thread's own piece of it:
// what a span is not known to hold otherwise is spread over it evenly, in the profile's order.
struct TimedSamples {
    const symbolize::NamedStack* stack = nullptr;
    std::uint64_t count = 0;
    std::uint64_t value = 0;
    std::chrono::nanoseconds start{};  // since the recording's start
    std::chrono::nanoseconds end{};
};

struct ThreadTimeline {
    std::uint32_t pid = 0;  // above every real one (kFirstInventedPid) where the profile has none
    std::uint32_t tid = 0;
    std::string process;
    std::string thread;  // of the same text as `process` when it has no name of its own
    std::uint64_t value = 0;
    std::vector<TimedSamples> samples;  // in order of time
};

// PID_MAX_LIMIT of Linux is 2^22.
inline constexpr std::uint32_t kFirstInventedPid = (1U << 22) + 1;

// What formats with a time axis say where `has_times` is false.
inline constexpr const char* kNoTimesText =
    "when samples came is not known: they lie one behind the other";

struct Timelines {
    std::vector<ThreadTimeline> threads;  // the one with most value first
    bool has_times = false;
};

// What formats that show threads over time are written from. It refers into `profile`.
Timelines lay_out_threads(const symbolize::NamedProfile& profile);

}  // namespace bobbin::profile
