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

CountedStack& StackCounts::stack_of(const RawSample& sample) {
    std::vector<CountedStack>& stacks = counted_.stacks;
    for (std::uint64_t place = hash_(sample);; ++place) {
        const auto [known, is_new] = index_by_hash_.try_emplace(place, stacks.size());
        if (is_new) {
            return stacks.emplace_back(new_stack(sample));
        }
        if (is_of(stacks[known->second], sample)) {
            return stacks[known->second];
        }
    }
}

void StackCounts::add(const RawSample& sample) {
    const abi::sample_header& header = *sample.header;
    assert(header.walk_end < abi::WALK_END_COUNT);
    ++stack_of(sample).count;
    ++counted_.sample_count;
    ++counted_.by_walk_end[header.walk_end];
    processes_.emplace(header.pid, header.process_start_boot_ns);
    counted_.process_count = processes_.size();
}

CountedStacks StackCounts::take() {
    index_by_hash_.clear();
    processes_.clear();
    return std::exchange(counted_, {});
}

}  // namespace bobbin::aggregate
