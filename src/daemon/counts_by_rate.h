// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <vector>

#include "aggregate/raw_sample.h"
#include "aggregate/stack_counts.h"

namespace bobbin::daemon {

struct RateCounts {
    std::chrono::nanoseconds period{};  // that each sample stands for
    aggregate::CountedStacks counted;
};

// Counts samples apart by the rate that they were taken at. Their own time tells which one that
// was: some wait in the ring buffer, or for a table, until the rate is another. All times are of
// CLOCK_MONOTONIC. One thread.
class CountsByRate {
public:
    // Each rate's stacks take about `max_bytes`.
    explicit CountsByRate(std::uint64_t max_bytes);

    // The moment that spans of time count from.
    void begin_at(std::chrono::nanoseconds start);
    // Samples from `since` on stand for `period`; those before the first call too.
    void begin_rate(std::chrono::nanoseconds since, std::chrono::nanoseconds period);
    void add(const aggregate::RawSample& sample);
    // Samples of before do not come any more.
    void note_counted_until(std::chrono::nanoseconds when) { counted_until_ = when; }

    // Hands over what was counted, by rate; spans of time then count from `next_start`. The last
    // one is the rate as it is; of earlier ones those that samples came of.
    std::vector<RateCounts> take(std::chrono::nanoseconds next_start = {});

    // What was counted since then; the last one is the rate as it is.
    [[nodiscard]] std::vector<const aggregate::CountedStacks*> counted() const;
    // What all stacks take.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    struct Rate {
        std::chrono::nanoseconds since{};
        std::chrono::nanoseconds period{};  // 0: not told yet
        aggregate::StackCounts counts;
    };
    Rate& rate_at(std::chrono::nanoseconds time);

    std::uint64_t max_bytes_;
    std::chrono::nanoseconds start_{};
    std::chrono::nanoseconds counted_until_{};
    std::list<Rate> rates_;  // oldest first, never empty
};

}  // namespace bobbin::daemon
