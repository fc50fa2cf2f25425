// SPDX-License-Identifier: Apache-2.0
#include "aggregate/stack_counts.h"

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): xxhash.h asks for this name
#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>

namespace bobbin::aggregate {
namespace {

// A name of COMM_BYTES characters has no NUL.
std::string_view comm_of(const char* comm) { return {comm, strnlen(comm, abi::COMM_BYTES)}; }

std::uint64_t hash_frames(std::span<const abi::frame_word> frames, std::uint64_t seed) {
    return XXH3_64bits_withSeed(frames.data(), frames.size_bytes(), seed);
}

bool is_of(const CountedStack& stack, const RawSample& sample) {
    const abi::sample_header& header = *sample.header;
    const SampleOwner& owner = stack.owner;
    return owner.pid == header.pid && owner.tid == header.tid && owner.cpu == header.cpu &&
           owner.process_start_boot_ns == header.process_start_boot_ns &&
           owner.cgroup_id == header.cgroup_id && stack.walk_end == header.walk_end &&
           owner.process_comm == comm_of(header.process_comm) &&
           owner.thread_comm == comm_of(header.thread_comm) &&
           std::ranges::equal(stack.kernel_frames, sample.kernel_frames) &&
           std::ranges::equal(stack.user_frames, sample.user_frames);
}

CountedStack new_stack(const RawSample& sample) {
    const abi::sample_header& header = *sample.header;
    return {.owner = {.pid = header.pid,
                      .tid = header.tid,
                      .cpu = header.cpu,
                      .process_start_boot_ns = header.process_start_boot_ns,
                      .cgroup_id = header.cgroup_id,
                      .process_comm = std::string(comm_of(header.process_comm)),
                      .thread_comm = std::string(comm_of(header.thread_comm))},
            .kernel_frames = {sample.kernel_frames.begin(), sample.kernel_frames.end()},
            .user_frames = {sample.user_frames.begin(), sample.user_frames.end()},
            .walk_end = static_cast<abi::walk_end>(header.walk_end)};
}

// With its entry in the index and what the allocator adds.
std::uint64_t bytes_of(const RawSample& sample) {
    constexpr std::uint64_t kOverheadBytes = 64;
    return sizeof(CountedStack) + kOverheadBytes + sample.kernel_frames.size_bytes() +
           sample.user_frames.size_bytes();
}

// A recording of a year is in ten of these.
constexpr std::chrono::hours kLongestSpan{24 * 36};

}  // namespace

std::uint64_t hash_of(const RawSample& sample) {
    const abi::sample_header& header = *sample.header;
    // The thread's name is left out: a tid rarely has two, and equality looks at it anyway.
    const std::array<std::uint64_t, 6> owner = {
        header.pid,
        header.tid,
        header.cpu,
        header.process_start_boot_ns,
        header.cgroup_id,
        static_cast<std::uint64_t>(header.walk_end) << 32 | sample.kernel_frames.size(),
    };
    const std::uint64_t seed = XXH3_64bits(owner.data(), sizeof owner);
    return hash_frames(sample.user_frames, hash_frames(sample.kernel_frames, seed));
}

CountedStack* StackCounts::find(const RawSample& sample) {
    for (std::uint64_t place = hash_(sample);; ++place) {
        const auto known = index_by_hash_.find(place);
        if (known == index_by_hash_.end()) return nullptr;
        CountedStack& stack = counted_.stacks[known->second];
        if (is_of(stack, sample)) return &stack;
    }
}

CountedStack& StackCounts::find_or_add(const RawSample& sample) {
    if (CountedStack* const known = find(sample)) return *known;
    std::uint64_t place = hash_(sample);
    while (!index_by_hash_.try_emplace(place, counted_.stacks.size()).second) ++place;
    bytes_ += bytes_of(sample);
    return counted_.stacks.emplace_back(new_stack(sample));
}

void StackCounts::count(const RawSample& sample) {
    const abi::sample_header& header = *sample.header;
    assert(header.walk_end < abi::WALK_END_COUNT);
    CountedStack& stack = find_or_add(sample);
    ++stack.count;
    note_time(stack.times, std::chrono::nanoseconds{header.time_ns});
    ++counted_.sample_count;
    ++counted_.by_walk_end[header.walk_end];
    processes_.emplace(header.pid, header.process_start_boot_ns);
    counted_.process_count = processes_.size();
}

void StackCounts::note_time(TimeCounts& times, std::chrono::nanoseconds time) {
    while (!spans_.fits(time)) double_spans();
    const std::size_t before = times.size();
    add_time(times, spans_.bucket_of(time));
    time_bytes_ += (times.size() - before) * sizeof(TimeCount);
    // A stack has more than 25 times the bytes of the one count that it has at least: spans of any
    // length end this.
    while (time_bytes_ > max_bytes_ / 8 && spans_.length() < kLongestSpan) double_spans();
}

void StackCounts::double_spans() {
    spans_.double_length();
    counted_.time_bucket = spans_.length();
    time_bytes_ = 0;
    for (CountedStack& stack : counted_.stacks) {
        halve_buckets(stack.times);
        time_bytes_ += stack.times.size() * sizeof(TimeCount);
    }
}

void StackCounts::add(const RawSample& sample) {
    if (bytes_ + bytes_of(sample) <= max_bytes_ || find(sample) != nullptr) {
        count(sample);
        return;
    }
    abi::sample_header header = *sample.header;
    ++counted_.shortened_from.at(header.walk_end);
    header.walk_end = abi::WALK_END_NO_MEMORY;
    RawSample shortened{.header = &header};
    if (!sample.kernel_frames.empty()) {
        shortened.kernel_frames = sample.kernel_frames.first(1);
    } else if (!sample.user_frames.empty()) {
        shortened.user_frames = sample.user_frames.first(1);
    }
    count(shortened);
}

CountedStacks StackCounts::take(std::chrono::nanoseconds next_start) {
    index_by_hash_ = {};  // with its memory, which clear() would keep
    processes_.clear();
    bytes_ = 0;
    time_bytes_ = 0;
    spans_ = {};
    spans_.begin_at(next_start);
    return std::exchange(counted_, {});
}

}  // namespace bobbin::aggregate
