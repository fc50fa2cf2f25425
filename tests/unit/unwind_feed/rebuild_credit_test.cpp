// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/rebuild_credit.h"

#include <gtest/gtest.h>

#include <chrono>

namespace bobbin::unwind_feed {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(RebuildCredit, SpendsAHundredthOfTheTimeInTheLongRun) {
    RebuildCredit credit;
    nanoseconds spent{};
    for (nanoseconds now = seconds{100}; now < seconds{1100}; now += milliseconds{10}) {
        if (!credit.is_left(now)) continue;
        credit.spend(milliseconds{7});
        spent += milliseconds{7};
    }
    // 1,000 s give 10 s, besides what there was at the start (200 ms) and one on credit.
    EXPECT_LE(spent, seconds{10} + milliseconds{207});
    EXPECT_GE(spent, seconds{10});
}

TEST(RebuildCredit, LetsOneBeDearerThanAllThereIsAndThenWaits) {
    RebuildCredit credit;
    ASSERT_TRUE(credit.is_left(seconds{100}));
    credit.spend(seconds{1});  // 200 ms were there: 800 ms of debt
    EXPECT_FALSE(credit.is_left(seconds{101}));
    EXPECT_FALSE(credit.is_left(seconds{180}));
    EXPECT_TRUE(credit.is_left(seconds{181}));
}

TEST(RebuildCredit, SavesUpNoMoreThanItBeganWith) {
    RebuildCredit credit;
    ASSERT_TRUE(credit.is_left(seconds{100}));
    ASSERT_TRUE(credit.is_left(seconds{100'000}));
    credit.spend(milliseconds{200});
    EXPECT_FALSE(credit.is_left(seconds{100'000}));
}

}  // namespace
}  // namespace bobbin::unwind_feed
