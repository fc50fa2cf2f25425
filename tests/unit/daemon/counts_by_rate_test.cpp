// SPDX-License-Identifier: Apache-2.0
#include "daemon/counts_by_rate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace bobbin::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

class CountsByRateTest : public testing::Test {
protected:
    void add(nanoseconds time) {
        abi::sample_header header{};
        header.time_ns = static_cast<std::uint64_t>(time.count());
        counts_.add({.header = &header, .kernel_frames = {}, .user_frames = {}, .paused_walk = {}});
    }
    // All samples times what each stands for.
    nanoseconds take_total(nanoseconds next_start = {}) {
        nanoseconds total{};
        for (const RateCounts& counts : counts_.take(next_start)) {
            total += counts.period * counts.counted.sample_count;
        }
        return total;
    }

    CountsByRate counts_{std::numeric_limits<std::uint64_t>::max()};
};

// 10 s of one CPU: 3 s at 10 Hz are 30 samples of 100 ms, 7 s at 100 Hz 700 of 10 ms. Of the former
// the last 5 are read when the rate is another.
TEST_F(CountsByRateTest, GivesALateSampleThePeriodItWasTakenWith) {
    counts_.begin_rate(seconds{0}, milliseconds{100});
    for (int i = 1; i <= 25; ++i) add(i * milliseconds{100});
    counts_.begin_rate(seconds{3}, milliseconds{10});
    for (int i = 1; i <= 700; ++i) add(seconds{3} + i * milliseconds{10});
    for (int i = 26; i < 30; ++i) add(i * milliseconds{100});
    add(seconds{3} - nanoseconds{1});
    EXPECT_EQ(take_total(), seconds{10});
}

// The same, handed over in between.
TEST_F(CountsByRateTest, KnowsAnEarlierRateAfterItsSamplesWereTaken) {
    counts_.begin_rate(seconds{0}, milliseconds{100});
    for (int i = 1; i <= 25; ++i) add(i * milliseconds{100});
    EXPECT_EQ(take_total(seconds{3}), milliseconds{2'500});
    counts_.begin_rate(seconds{3}, milliseconds{10});
    EXPECT_EQ(take_total(seconds{3}), seconds{0});
    counts_.begin_rate(seconds{4}, milliseconds{50});
    for (int i = 26; i < 30; ++i) add(i * milliseconds{100});
    add(seconds{3});
    add(seconds{4});
    EXPECT_EQ(take_total(seconds{4}), milliseconds{400 + 10 + 50});
    EXPECT_EQ(take_total(seconds{4}), seconds{0});
}

TEST_F(CountsByRateTest, ForgetsARateOfWhichNoSampleCanCome) {
    counts_.begin_rate(seconds{0}, milliseconds{100});
    counts_.begin_rate(seconds{3}, milliseconds{10});
    counts_.note_counted_until(seconds{3} - nanoseconds{1});
    counts_.take();
    EXPECT_EQ(counts_.counted().size(), 2U);
    counts_.note_counted_until(seconds{3});
    counts_.take();
    EXPECT_EQ(counts_.counted().size(), 1U);
}

// Times count from where the rate before it counts them from.
TEST_F(CountsByRateTest, KeepsTheTimesOfAnotherRate) {
    counts_.begin_rate(seconds{20}, milliseconds{100});
    counts_.begin_at(seconds{20});
    counts_.begin_rate(seconds{22}, milliseconds{10});
    add(milliseconds{21'050});
    add(milliseconds{22'050});
    const auto taken = counts_.take(seconds{30});
    ASSERT_EQ(taken.size(), 2U);
    EXPECT_EQ(taken[0].counted.stacks.at(0).times, (aggregate::TimeCounts{{10, 1}}));
    EXPECT_EQ(taken[1].counted.stacks.at(0).times, (aggregate::TimeCounts{{20, 1}}));
    add(milliseconds{30'250});
    EXPECT_EQ(counts_.take().back().counted.stacks.at(0).times, (aggregate::TimeCounts{{2, 1}}));
}

TEST_F(CountsByRateTest, StaysAtARateThatIsBegunAgain) {
    counts_.begin_rate(seconds{0}, milliseconds{100});
    counts_.begin_rate(seconds{5}, milliseconds{100});
    EXPECT_EQ(counts_.counted().size(), 1U);
}

}  // namespace
}  // namespace bobbin::daemon
