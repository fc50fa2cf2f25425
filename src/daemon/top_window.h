// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "aggregate/stack_counts.h"

namespace bobbin::daemon {

// The stacks of the last seconds: what was counted in each interval goes in at one end and out at
// the other.
class TopWindow {
public:
    // What is older than `length` goes, and before that when all takes more than `max_bytes`; the
    // youngest interval stays in any case.
    TopWindow(std::chrono::nanoseconds length, std::uint64_t max_bytes)
        : length_(length), max_bytes_(max_bytes) {}

    void add(aggregate::CountedStacks interval, std::chrono::nanoseconds duration);

    // Without times. Stacks of different intervals stay apart, also when they are equal.
    [[nodiscard]] const aggregate::CountedStacks& counted() const { return counted_; }
    [[nodiscard]] std::chrono::nanoseconds duration() const { return duration_; }

private:
    struct Interval {
        std::size_t stack_count = 0;
        std::chrono::nanoseconds duration{};
        std::uint64_t bytes = 0;
    };
    void remove_oldest();

    std::chrono::nanoseconds length_;
    std::uint64_t max_bytes_;
    std::deque<Interval> intervals_;
    std::chrono::nanoseconds duration_{};
    std::uint64_t bytes_ = 0;
    aggregate::CountedStacks counted_;  // oldest first
};

}  // namespace bobbin::daemon
