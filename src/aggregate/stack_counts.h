// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregate/raw_sample.h"
#include "aggregate/sample_times.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::aggregate {

// Who ran when the tick came. Samples that agree in this, in their frames and in why the walk ended
// are one CountedStack.
struct SampleOwner {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint32_t cpu = 0;
    std::uint64_t process_start_boot_ns = 0;
    std::uint64_t cgroup_id = 0;
    std::string process_comm;
    std::string thread_comm;

    friend bool operator==(const SampleOwner&, const SampleOwner&) = default;
};

struct CountedStack {
    SampleOwner owner;
    std::vector<abi::frame_word> kernel_frames;  // leaf first
    std::vector<abi::frame_word> user_frames;    // leaf first
    abi::walk_end walk_end = abi::WALK_END_BOTTOM;
    std::uint64_t count = 0;
    TimeCounts times;  // counts add up to `count`
};

struct CountedStacks {
    std::vector<CountedStack> stacks;
    std::chrono::nanoseconds time_bucket = TimeSpans::kShortest;  // span of CountedStack::times
    std::uint64_t sample_count = 0;                               // sum of all counts
    std::array<std::uint64_t, abi::WALK_END_COUNT> by_walk_end{};
    std::uint64_t process_count = 0;  // distinct (pid, start time)
    // Of the samples that end with WALK_END_NO_MEMORY: how they had ended before.
    std::array<std::uint64_t, abi::WALK_END_COUNT> shortened_from{};
};

// Of everything that tells one CountedStack from another.
std::uint64_t hash_of(const RawSample& sample);

// Counts samples with equal owner and frames. One thread.
//
// Stacks take about `max_bytes`. When they are used up, a stack that is not known yet is counted by
// its innermost frame alone, with WALK_END_NO_MEMORY; what is known is counted as before. When
// samples came may take an eighth of that besides; then spans of time get longer.
class StackCounts {
public:
    using Hash = std::uint64_t (*)(const RawSample&);

    explicit StackCounts(Hash hash = hash_of,
                         std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max())
        : hash_(hash), max_bytes_(max_bytes) {}

    // The moment that times are counted from, of CLOCK_MONOTONIC.
    void begin_at(std::chrono::nanoseconds start) { spans_.begin_at(start); }
    void add(const RawSample& sample);
    [[nodiscard]] std::uint64_t sample_count() const { return counted_.sample_count; }
    [[nodiscard]] const CountedStacks& counted() const { return counted_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    // Hands over what was counted and starts from nothing; times are counted from `next_start` on,
    // of CLOCK_MONOTONIC.
    CountedStacks take(std::chrono::nanoseconds next_start = {});

private:
    CountedStack* find(const RawSample& sample);
    CountedStack& find_or_add(const RawSample& sample);
    void count(const RawSample& sample);
    void note_time(TimeCounts& times, std::chrono::nanoseconds time);
    void double_spans();

    Hash hash_;
    std::uint64_t max_bytes_;
    std::uint64_t bytes_ = 0;
    std::uint64_t time_bytes_ = 0;
    TimeSpans spans_;
    CountedStacks counted_;
    // Index into counted_.stacks. A stack whose hash another one has stands at the next free
    // number.
    tsl::robin_map<std::uint64_t, std::size_t> index_by_hash_;
    std::set<std::pair<std::uint32_t, std::uint64_t>> processes_;  // (pid, start time)
};

}  // namespace bobbin::aggregate
