// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace bobbin::aggregate {

// How many samples of one stack came in one span of time.
struct TimeCount {
    std::uint32_t bucket = 0;  // spans since the start
    std::uint32_t count = 0;

    friend bool operator==(const TimeCount&, const TimeCount&) = default;
};

// Ascending buckets, each once.
using TimeCounts = std::vector<TimeCount>;

// Adds one sample. Samples come nearly in order: those that waited for a table come later.
void add_time(TimeCounts& times, std::uint32_t bucket);

// The same counts in spans twice as long.
void halve_buckets(TimeCounts& times);

// Which span of a recording a moment lies in. Spans begin at 100 ms and double when there would be
// more than 1,024 of them: a minute has 600, an hour 563 of 6.4 s.
class TimeSpans {
public:
    static constexpr std::uint32_t kMaxBuckets = 1024;
    static constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds{100};

    // Of CLOCK_MONOTONIC. What was before lies in span 0.
    void begin_at(std::chrono::nanoseconds start) { start_ = start; }

    [[nodiscard]] bool fits(std::chrono::nanoseconds time) const;
    [[nodiscard]] std::uint32_t bucket_of(std::chrono::nanoseconds time) const;
    void double_length() { length_ *= 2; }
    [[nodiscard]] std::chrono::nanoseconds length() const { return length_; }

private:
    std::chrono::nanoseconds start_{};
    std::chrono::nanoseconds length_ = kShortest;
};

}  // namespace bobbin::aggregate
