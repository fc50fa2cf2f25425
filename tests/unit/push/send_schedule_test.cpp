// SPDX-License-Identifier: Apache-2.0
#include "push/send_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bobbin::push {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::Ge;
using testing::Le;

TEST(SendSchedule, WaitsAFifthMoreOrLessThanTheInterval) {
    SendSchedule schedule({.interval = seconds{60}}, 1);
    std::set<milliseconds> waits;
    for (int i = 0; i < 100; ++i) {
        waits.insert(schedule.after_round());
        EXPECT_THAT(*waits.rbegin(), AllOf(Ge(seconds{48}), Le(seconds{72})));
        EXPECT_GE(*waits.begin(), seconds{48});
    }
    EXPECT_GT(waits.size(), 50U);
}

TEST(SendSchedule, DoublesUpToFiveMinutes) {
    SendSchedule schedule({.least_retry = seconds{1}, .most_retry = minutes{5}}, 1);
    // 1, 2, 4, ... 256 s, then 300.
    for (int failure = 0; failure < 100; ++failure) {
        const seconds most = failure < 9 ? seconds{1 << failure} : seconds{300};
        const milliseconds least = milliseconds{most} / 2;
        EXPECT_THAT(schedule.after_failure({}), AllOf(Ge(least), Le(most))) << failure;
    }
    schedule.note_success();
    EXPECT_LE(schedule.after_failure({}), seconds{1});
}

TEST(SendSchedule, WaitsAtLeastAsLongAsItWasAskedToUpToAnHour) {
    SendSchedule schedule({}, 1);
    for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(schedule.after_failure(seconds{100}),
                    AllOf(Ge(seconds{100}), Le(seconds{110})));
        EXPECT_THAT(schedule.after_failure(hours{1000}), AllOf(Ge(hours{1}), Le(minutes{66})));
    }
}

TEST(ParseRetryAfter, ReadsSecondsAndDates) {
    // RFC 9110 section 5.6.7: the same moment thrice; `date -u -d '1994-11-06 08:49:37' +%s`.
    const auto now = std::chrono::system_clock::from_time_t(784'111'777 - 90);
    EXPECT_EQ(parse_retry_after("120", now), seconds{120});
    EXPECT_EQ(parse_retry_after("0", now), seconds{0});
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), seconds{90});
    EXPECT_EQ(parse_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", now), seconds{90});
    EXPECT_EQ(parse_retry_after("Sun Nov  6 08:49:37 1994", now), seconds{90});
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now), seconds{0});
    EXPECT_EQ(parse_retry_after("soon", now), std::nullopt);
    EXPECT_EQ(parse_retry_after("", now), std::nullopt);
}

}  // namespace
}  // namespace bobbin::push
