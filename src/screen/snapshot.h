// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "symbolize/named_profile.h"

namespace bobbin::screen {

// What is shown of one moment: the stacks of the last seconds, and how the sampling does.
struct Snapshot {
    symbolize::NamedProfile profile;  // of the window; values are counts
    std::chrono::nanoseconds window{};
    std::chrono::nanoseconds elapsed{};  // since sampling began
    std::uint32_t frequency_hz = 0;
    std::uint32_t cpu_count = 0;
    std::uint64_t complete_count = 0;  // stacks of the window from which nothing is missing
    std::uint64_t lost_count = 0;      // ticks since sampling began
    double own_cpus = 0;               // that bobbin itself takes: 0.01 is 1 % of one
    std::uint64_t own_bytes = 0;
};

}  // namespace bobbin::screen
