// SPDX-License-Identifier: Apache-2.0
#include "service/rate_wishes.h"

#include <gtest/gtest.h>

namespace bobbin::service {
namespace {

using std::chrono::seconds;

constexpr RateWishes::Clock::time_point kNow{seconds{100}};

TEST(RateWishes, KeepTheBudget) {
    RateWishes wishes(19);
    EXPECT_EQ(wishes.hz(kNow), 19U);
    wishes.allow(4);
    EXPECT_EQ(wishes.hz(kNow), 4U);
    EXPECT_EQ(wishes.paused_why(), "");
    wishes.allow(0);
    EXPECT_EQ(wishes.hz(kNow), 0U);
    EXPECT_NE(wishes.paused_why(), "");
}

TEST(RateWishes, BoostForAWhileOnly) {
    RateWishes wishes(19);
    wishes.allow(4);
    wishes.boost(199, kNow + seconds{60});
    EXPECT_EQ(wishes.hz(kNow + seconds{59}), 199U);
    EXPECT_EQ(wishes.hz(kNow + seconds{60}), 4U);
}

TEST(RateWishes, PutTheKillSwitchBeforeEverythingElse) {
    RateWishes wishes(19);
    wishes.boost(199, kNow + seconds{60});
    wishes.kill(true);
    EXPECT_EQ(wishes.hz(kNow), 0U);
    wishes.kill(false);
    wishes.pause(true);
    EXPECT_EQ(wishes.hz(kNow), 0U);
    wishes.pause(false);
    EXPECT_EQ(wishes.hz(kNow), 199U);
}

TEST(RateWishes, TakeAnotherConfigurationOverAtOnce) {
    RateWishes wishes(19);
    wishes.allow(4);
    wishes.configure(99);
    EXPECT_EQ(wishes.hz(kNow), 99U);
}

}  // namespace
}  // namespace bobbin::service
