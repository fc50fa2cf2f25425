// SPDX-License-Identifier: Apache-2.0
#include "aggregate/stack_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace bobbin::aggregate {
namespace {

using Frames = std::vector<abi::frame_word>;
using ::testing::ElementsAre;

struct OwnedSample {
    abi::sample_header header{};
    Frames kernel_frames;
    Frames user_frames;

    [[nodiscard]] RawSample raw() const { return {&header, kernel_frames, user_frames}; }
};

void set_comm(char (&comm)[abi::COMM_BYTES], std::string_view name) {
    std::memset(comm, 0, sizeof comm);
    std::memcpy(comm, name.data(), std::min(name.size(), sizeof comm));
}

OwnedSample sample_of(Frames kernel_frames, Frames user_frames) {
    OwnedSample sample{.kernel_frames = std::move(kernel_frames),
                       .user_frames = std::move(user_frames)};
    sample.header.pid = 100;
    sample.header.tid = 101;
    sample.header.cpu = 1;
    sample.header.process_start_boot_ns = 5'000;
    sample.header.cgroup_id = 77;
    set_comm(sample.header.process_comm, "shop");
    set_comm(sample.header.thread_comm, "worker");
    return sample;
}

// Everything that tells two stacks apart, each changed alone.
std::vector<OwnedSample> all_different() {
    const OwnedSample first = sample_of({1, 2}, {3, 4});
    std::vector<OwnedSample> samples(1, first);
    const auto add = [&](auto change) { change(samples.emplace_back(first)); };
    add([](OwnedSample& sample) { sample.header.pid = 200; });
    add([](OwnedSample& sample) { sample.header.tid = 200; });
    add([](OwnedSample& sample) { sample.header.cpu = 200; });
    add([](OwnedSample& sample) { sample.header.process_start_boot_ns = 200; });
    add([](OwnedSample& sample) { sample.header.cgroup_id = 200; });
    add([](OwnedSample& sample) { set_comm(sample.header.process_comm, "other"); });
    add([](OwnedSample& sample) { set_comm(sample.header.thread_comm, "other"); });
    add([](OwnedSample& sample) { sample.header.walk_end = abi::WALK_END_TRUNCATED; });
    add([](OwnedSample& sample) { sample.kernel_frames = {1, 2, 3}, sample.user_frames = {4}; });
    add([](OwnedSample& sample) { sample.kernel_frames = {}, sample.user_frames = {1, 2, 3, 4}; });
    add([](OwnedSample& sample) { sample.kernel_frames = {2, 1}; });
    add([](OwnedSample& sample) { sample.user_frames = {3, 5}; });
    add([](OwnedSample& sample) { sample.user_frames = {}; });
    return samples;
}

std::uint64_t same_for_all(const RawSample&) {
    return ~std::uint64_t{0};  // the place after it is 0
}

TEST(StackCounts, CountsEqualSamplesTogether) {
    StackCounts counts;
    OwnedSample sample = sample_of({1}, {2, 3});
    counts.add(sample.raw());
    sample.header.time_ns = 123;  // when does not matter
    counts.add(sample.raw());
    ASSERT_EQ(counts.counted().stacks.size(), 1U);
    EXPECT_EQ(counts.counted().stacks.front().count, 2U);
    EXPECT_EQ(counts.sample_count(), 2U);
}

TEST(StackCounts, KeepsWhatTheSampleSaid) {
    StackCounts counts;
    OwnedSample sample = sample_of({1}, {2, 3});
    sample.header.walk_end = abi::WALK_END_NO_CFI;
    counts.add(sample.raw());
    sample.kernel_frames.assign(1, 99);  // the reader's buffer is used again
    sample.user_frames.assign(2, 99);

    const CountedStack& stack = counts.counted().stacks.at(0);
    const SampleOwner expected{.pid = 100,
                               .tid = 101,
                               .cpu = 1,
                               .process_start_boot_ns = 5'000,
                               .cgroup_id = 77,
                               .process_comm = "shop",
                               .thread_comm = "worker"};
    EXPECT_EQ(stack.owner, expected);
    EXPECT_THAT(stack.kernel_frames, ElementsAre(1));
    EXPECT_THAT(stack.user_frames, ElementsAre(2, 3));
    EXPECT_EQ(stack.walk_end, abi::WALK_END_NO_CFI);
}

TEST(StackCounts, ReadsANameThatFillsItsField) {
    StackCounts counts;
    OwnedSample sample = sample_of({}, {1});
    set_comm(sample.header.thread_comm, "0123456789abcdef");
    counts.add(sample.raw());
    EXPECT_EQ(counts.counted().stacks.at(0).owner.thread_comm, "0123456789abcdef");
}

class TellsApart : public ::testing::TestWithParam<StackCounts::Hash> {};

TEST_P(TellsApart, SamplesThatDifferInOneThing) {
    StackCounts counts(GetParam());
    const std::vector<OwnedSample> samples = all_different();
    for (int round = 0; round < 3; ++round) {
        for (const OwnedSample& sample : samples) {
            counts.add(sample.raw());
        }
    }
    EXPECT_EQ(counts.counted().stacks.size(), samples.size());
    for (const CountedStack& stack : counts.counted().stacks) {
        EXPECT_EQ(stack.count, 3U);
    }
    EXPECT_EQ(counts.sample_count(), 3 * samples.size());
}

INSTANTIATE_TEST_SUITE_P(StackCounts, TellsApart, ::testing::Values(&hash_of, &same_for_all));

TEST(StackCounts, CountsProcessesByIdAndStartTime) {
    StackCounts counts;
    OwnedSample sample = sample_of({}, {1});
    counts.add(sample.raw());
    sample.header.tid = 999;
    counts.add(sample.raw());
    EXPECT_EQ(counts.counted().process_count, 1U);
    sample.header.process_start_boot_ns = 6'000;  // the pid was used again
    counts.add(sample.raw());
    sample.header.pid = 101;  // two that started at once
    counts.add(sample.raw());
    EXPECT_EQ(counts.counted().process_count, 3U);
}

TEST(StackCounts, CountsWalkEnds) {
    StackCounts counts;
    OwnedSample sample = sample_of({}, {1});
    counts.add(sample.raw());
    counts.add(sample.raw());
    sample.header.walk_end = abi::WALK_END_32_BIT;
    counts.add(sample.raw());
    const auto& by_walk_end = counts.counted().by_walk_end;
    EXPECT_EQ(by_walk_end[abi::WALK_END_BOTTOM], 2U);
    EXPECT_EQ(by_walk_end[abi::WALK_END_32_BIT], 1U);
    EXPECT_EQ(by_walk_end[abi::WALK_END_TRUNCATED], 0U);
}

// Room for one stack of 100 frames, not for two.
TEST(StackCounts, CountsNewStacksByTheirInnermostFrameWhenItsMemoryIsUsedUp) {
    StackCounts counts(hash_of, 1'500);
    const OwnedSample first = sample_of({}, Frames(100, 7));
    const OwnedSample second = sample_of({}, Frames(100, 8));
    const OwnedSample in_kernel = sample_of({5, 6}, Frames(100, 9));
    for (const OwnedSample* sample : {&first, &second, &first, &in_kernel, &second}) {
        counts.add(sample->raw());
    }
    const CountedStacks counted = counts.take();
    EXPECT_EQ(counted.sample_count, 5U);
    EXPECT_EQ(counted.by_walk_end[abi::WALK_END_BOTTOM], 2U);
    EXPECT_EQ(counted.by_walk_end[abi::WALK_END_NO_MEMORY], 3U);
    EXPECT_EQ(counted.shortened_from[abi::WALK_END_BOTTOM], 3U);
    ASSERT_EQ(counted.stacks.size(), 3U);
    EXPECT_EQ(counted.stacks[0].user_frames, Frames(100, 7));
    EXPECT_EQ(counted.stacks[0].count, 2U);
    EXPECT_EQ(counted.stacks[1].user_frames, Frames{8});
    EXPECT_EQ(counted.stacks[1].count, 2U);
    EXPECT_EQ(counted.stacks[1].walk_end, abi::WALK_END_NO_MEMORY);
    EXPECT_EQ(counted.stacks[2].kernel_frames, Frames{5});
    EXPECT_TRUE(counted.stacks[2].user_frames.empty());
}

TEST(StackCounts, StartsFromNothingAfterATake) {
    StackCounts counts;
    const OwnedSample sample = sample_of({1}, {2});
    counts.add(sample.raw());
    counts.add(sample_of({1}, {3}).raw());
    const CountedStacks taken = counts.take();
    EXPECT_EQ(taken.stacks.size(), 2U);
    EXPECT_EQ(taken.sample_count, 2U);
    EXPECT_EQ(counts.sample_count(), 0U);
    EXPECT_TRUE(counts.take().stacks.empty());

    counts.add(sample.raw());
    const CountedStacks again = counts.take();
    ASSERT_EQ(again.stacks.size(), 1U);
    EXPECT_EQ(again.stacks.front().count, 1U);
    EXPECT_EQ(again.sample_count, 1U);
    EXPECT_EQ(again.process_count, 1U);
    EXPECT_EQ(again.by_walk_end[abi::WALK_END_BOTTOM], 1U);
}

// 12.25 s are two spans of 100 ms after 12 s.
TEST(StackCounts, CountsTimesFromTheMomentThatATakeNames) {
    StackCounts counts;
    counts.begin_at(std::chrono::seconds{5});
    OwnedSample sample = sample_of({1}, {2});
    sample.header.time_ns = 5'900'000'000;
    counts.add(sample.raw());
    const CountedStacks first = counts.take(std::chrono::seconds{12});
    sample.header.time_ns = 12'250'000'000;
    counts.add(sample.raw());
    sample.header.time_ns = 11'900'000'000;  // it waited for a table
    counts.add(sample.raw());
    const CountedStacks second = counts.take();
    EXPECT_THAT(first.stacks.at(0).times, ElementsAre(TimeCount{9, 1}));
    EXPECT_THAT(second.stacks.at(0).times, ElementsAre(TimeCount{0, 1}, TimeCount{2, 1}));
    EXPECT_EQ(second.time_bucket, TimeSpans::kShortest);
}

TEST(StackCounts, CountsManyStacksExactly) {
    StackCounts counts;
    constexpr std::uint64_t kStacks = 20'000;
    for (std::uint64_t i = 0; i < 3 * kStacks; ++i) {
        counts.add(sample_of({}, {i % kStacks, 7}).raw());
    }
    const CountedStacks taken = counts.take();
    ASSERT_EQ(taken.stacks.size(), kStacks);
    EXPECT_TRUE(std::ranges::all_of(taken.stacks,
                                    [](const CountedStack& stack) { return stack.count == 3; }));
}

}  // namespace
}  // namespace bobbin::aggregate
