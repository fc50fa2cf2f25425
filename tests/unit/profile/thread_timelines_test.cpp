// SPDX-License-Identifier: Apache-2.0
#include "profile/thread_timelines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace bobbin::profile {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

symbolize::NamedStack stack_of(std::uint64_t count, aggregate::TimeCounts times,
                               std::uint32_t tid = 1) {
    symbolize::NamedStack stack;
    stack.count = count;
    stack.value = count * 10'000'000;
    stack.times = std::move(times);
    stack.labels.pid = 1;
    stack.labels.tid = tid;
    return stack;
}

// "2 of 20000000 from 100 to 150": count, value, milliseconds.
std::vector<std::string> samples_of(const Timelines& timelines, std::size_t thread) {
    std::vector<std::string> lines;
    for (const TimedSamples& samples : timelines.threads.at(thread).samples) {
        lines.push_back(std::to_string(samples.count) + " of " + std::to_string(samples.value) +
                        " from " + std::to_string(samples.start / milliseconds(1)) + " to " +
                        std::to_string(samples.end / milliseconds(1)));
    }
    return lines;
}

TEST(LayOutThreads, SpreadsTheSamplesOfASpanOverIt) {
    symbolize::NamedProfile profile;
    profile.time_bucket = milliseconds(100);
    profile.stacks = {stack_of(4, {{0, 1}, {2, 3}}), stack_of(1, {{2, 1}})};
    const Timelines timelines = lay_out_threads(profile);
    EXPECT_TRUE(timelines.has_times);
    EXPECT_THAT(samples_of(timelines, 0),
                ElementsAre("1 of 10000000 from 0 to 100", "3 of 30000000 from 200 to 275",
                            "1 of 10000000 from 275 to 300"));
}

TEST(LayOutThreads, HasNoTimesWhereOneStackHasNone) {
    symbolize::NamedProfile profile;
    profile.time_bucket = milliseconds(100);
    profile.stacks = {stack_of(4, {{3, 4}}), stack_of(1, {})};
    const Timelines timelines = lay_out_threads(profile);
    EXPECT_FALSE(timelines.has_times);
    EXPECT_THAT(samples_of(timelines, 0),
                ElementsAre("4 of 40000000 from 0 to 40", "1 of 10000000 from 40 to 50"));
}

// 10 / 3 is no whole number, and nothing may be lost.
TEST(LayOutThreads, GivesAwayAllOfAValue) {
    symbolize::NamedProfile profile;
    profile.time_bucket = milliseconds(100);
    profile.stacks = {stack_of(3, {{0, 1}, {1, 1}, {2, 1}})};
    profile.stacks[0].value = 10;
    const Timelines timelines = lay_out_threads(profile);
    std::uint64_t sum = 0;
    for (const TimedSamples& samples : timelines.threads.at(0).samples) sum += samples.value;
    EXPECT_EQ(sum, 10U);
    EXPECT_EQ(timelines.threads.at(0).samples.size(), 3U);
}

TEST(LayOutThreads, PutsTheThreadWithMostValueFirst) {
    symbolize::NamedProfile profile;
    profile.stacks = {stack_of(1, {}, 1), stack_of(2, {}, 2), stack_of(2, {}, 1)};
    const Timelines timelines = lay_out_threads(profile);
    ASSERT_EQ(timelines.threads.size(), 2U);
    EXPECT_EQ(timelines.threads[0].tid, 1U);
    EXPECT_EQ(timelines.threads[0].value, 30'000'000U);
}

TEST(LayOutThreads, TellsNamelessPidsApartByTheirNames) {
    symbolize::NamedProfile profile;
    for (const char* comm : {"a", "b", "a"}) {
        symbolize::NamedStack stack = stack_of(1, {}, 0);
        stack.labels.pid = 0;
        stack.labels.comm = comm;
        profile.stacks.push_back(stack);
    }
    const Timelines timelines = lay_out_threads(profile);
    ASSERT_EQ(timelines.threads.size(), 2U);
    EXPECT_EQ(timelines.threads[0].process, "a");
    EXPECT_EQ(timelines.threads[0].samples.size(), 2U);
    EXPECT_GE(timelines.threads[0].pid, kFirstInventedPid);
    EXPECT_NE(timelines.threads[0].pid, timelines.threads[1].pid);
    EXPECT_EQ(timelines.threads[1].pid, timelines.threads[1].tid);
}

// A hostile file has any numbers; sums of times stay what a clock can say.
TEST(LayOutThreads, BoundsTimes) {
    symbolize::NamedProfile profile;
    profile.time_bucket = std::chrono::nanoseconds::max();
    profile.stacks = {stack_of(1, {{std::numeric_limits<std::uint32_t>::max(), 1}})};
    profile.stacks.push_back(profile.stacks.front());
    const Timelines by_times = lay_out_threads(profile);
    for (const auto& samples : by_times.threads.at(0).samples)
        EXPECT_GE(samples.end, samples.start);
    profile.time_bucket = {};
    for (symbolize::NamedStack& stack : profile.stacks)
        stack.value = std::numeric_limits<std::uint64_t>::max();
    const Timelines behind_each_other = lay_out_threads(profile);
    for (const auto& samples : behind_each_other.threads.at(0).samples)
        EXPECT_GE(samples.end, samples.start);
}

}  // namespace
}  // namespace bobbin::profile
