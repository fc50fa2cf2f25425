// SPDX-License-Identifier: Apache-2.0
#include "daemon/top_window.h"

#include <gtest/gtest.h>

#include <limits>

namespace bobbin::daemon {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

aggregate::CountedStacks interval_with(std::uint64_t count,
                                       abi::walk_end end = abi::WALK_END_BOTTOM,
                                       std::size_t frames = 1) {
    aggregate::CountedStacks counted;
    aggregate::CountedStack stack;
    stack.user_frames.resize(frames);
    stack.walk_end = end;
    stack.count = count;
    stack.times = {{.bucket = 0, .count = 1}};
    counted.stacks.push_back(stack);
    counted.sample_count = count;
    counted.by_walk_end.at(end) = count;
    return counted;
}

TEST(TopWindowTest, HoldsTheLastSeconds) {
    TopWindow window(seconds{3}, kNoLimit);
    for (std::uint64_t second = 1; second <= 5; ++second) {
        window.add(interval_with(second), seconds{1});
    }
    EXPECT_EQ(window.duration(), seconds{3});
    EXPECT_EQ(window.counted().sample_count, 3U + 4 + 5);
    ASSERT_EQ(window.counted().stacks.size(), 3U);
    EXPECT_EQ(window.counted().stacks.front().count, 3U);
    EXPECT_TRUE(window.counted().stacks.front().times.empty());
}

TEST(TopWindowTest, ForgetsHowStacksEndedThatWent) {
    TopWindow window(seconds{1}, kNoLimit);
    window.add(interval_with(7, abi::WALK_END_NO_MAPPING), seconds{1});
    EXPECT_EQ(window.counted().by_walk_end.at(abi::WALK_END_NO_MAPPING), 7U);
    window.add(interval_with(2), seconds{1});
    EXPECT_EQ(window.counted().by_walk_end.at(abi::WALK_END_NO_MAPPING), 0U);
    EXPECT_EQ(window.counted().by_walk_end.at(abi::WALK_END_BOTTOM), 2U);
}

// Each interval has 1,000 words of 8 bytes and its stack: two fit in 20,000 bytes, three do not.
TEST(TopWindowTest, IsShorterWhereStacksTakeTooMuchMemory) {
    TopWindow window(seconds{10}, 20'000);
    for (std::uint64_t second = 1; second <= 5; ++second) {
        window.add(interval_with(second, abi::WALK_END_BOTTOM, 1000), seconds{1});
    }
    EXPECT_EQ(window.duration(), seconds{2});
    EXPECT_EQ(window.counted().sample_count, 4U + 5);
}

TEST(TopWindowTest, KeepsAnIntervalThatIsLongerThanIt) {
    TopWindow window(seconds{1}, kNoLimit);
    window.add(interval_with(4), seconds{60});
    EXPECT_EQ(window.counted().sample_count, 4U);
    window.add(interval_with(5), seconds{1});
    EXPECT_EQ(window.counted().sample_count, 5U);
    EXPECT_EQ(window.duration(), seconds{1});
}

}  // namespace
}  // namespace bobbin::daemon
