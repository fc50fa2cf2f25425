// SPDX-License-Identifier: Apache-2.0
// Expectations are `TZ=... date -d TEXT +%s`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <chrono>
#include <string>

#include "store/store.h"
#include "unit/store/minute_profile.h"

namespace bobbin::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

// A place with summer time: from 2026-03-29 02:00 to 2026-10-25 03:00, as glibc reads POSIX's TZ.
class ParseTime : public testing::Test {
protected:
    ParseTime() { set_place("CET-1CEST,M3.5.0,M10.5.0/3"); }
    ~ParseTime() override { set_place("UTC0"); }
    static void set_place(const char* place) {
        ::setenv("TZ", place, 1);
        ::tzset();
    }
    static std::int64_t parsed(const std::string& text, Time now = test::kMorning) {
        const auto time = parse_time(text, now);
        EXPECT_TRUE(time.has_value()) << text << ": " << time.error().message();
        return time ? std::chrono::system_clock::to_time_t(*time) : 0;
    }
    static std::string range(const std::string& text) {
        const auto parsed = parse_range(text, test::kMorning);
        if (!parsed) return parsed.error().message();
        return std::to_string(std::chrono::system_clock::to_time_t(parsed->begin)) + " " +
               std::to_string(std::chrono::system_clock::to_time_t(parsed->end));
    }
};

TEST_F(ParseTime, CountsBackFromNow) {
    constexpr std::int64_t kNow = 1'795'343'400;
    EXPECT_EQ(parsed("now"), kNow);
    EXPECT_EQ(parsed("-90s"), kNow - 90);
    EXPECT_EQ(parsed("-10m"), kNow - 600);
    EXPECT_EQ(parsed("-1h30m"), kNow - 5'400);
    EXPECT_EQ(parsed("-25h"), kNow - 90'000);
    EXPECT_EQ(parsed("-7d"), kNow - 604'800);
    EXPECT_EQ(parsed("-2w"), kNow - 1'209'600);
}

TEST_F(ParseTime, ReadsDatesOfThisPlace) {
    EXPECT_EQ(parsed("2026-11-22"), 1'795'302'000);
    EXPECT_EQ(parsed("2026-11-22 10:30"), 1'795'339'800);
    EXPECT_EQ(parsed("2026-11-22 10:30:15"), 1'795'339'815);
    EXPECT_EQ(parsed("2026-11-22T10:30:15"), 1'795'339'815);
    EXPECT_EQ(parsed("2026-11-22T10:30:15Z"), 1'795'343'415);
    EXPECT_EQ(parsed("2026-07-01 12:00"), 1'782'900'000);  // summer
    EXPECT_EQ(parsed("@1790000000"), 1'790'000'000);
}

// It is 11:30 there.
TEST_F(ParseTime, TakesAClockForItsLastTime) {
    EXPECT_EQ(parsed("10:30"), 1'795'339'800);
    EXPECT_EQ(parsed("11:30"), 1'795'343'400);
    EXPECT_EQ(parsed("11:30:01"), 1'795'343'401 - 86'400);
    EXPECT_EQ(parsed("22:00"), 1'795'294'800);
}

TEST_F(ParseTime, RefusesEverythingElse) {
    for (const char* text : {"",
                             "-",
                             "-1",
                             "-h",
                             "1h",
                             "-1h30",
                             "-1x",
                             "--1h",
                             "-99999999w",
                             "yesterday",
                             "25:00",
                             "10:60",
                             "10",
                             "2026-13-01",
                             "2026-11-32",
                             "2026-11-22 10",
                             "2026-11-22 10:30x",
                             "2026-11-22 -1:30",
                             "10:30Z",
                             "@",
                             "@1x",
                             "@99999999999999999999",
                             "2026/11/22"}) {
        const auto time = parse_time(text, test::kMorning);
        ASSERT_FALSE(time.has_value()) << text;
        EXPECT_THAT(time.error().message(), HasSubstr("times are like -1h")) << text;
    }
}

TEST_F(ParseTime, ReadsRanges) {
    EXPECT_EQ(range("-1h"), "1795339800 1795343400");
    EXPECT_EQ(range("-25h..-24h"), "1795253400 1795257000");
    EXPECT_EQ(range("-1h..now"), "1795339800 1795343400");
    EXPECT_EQ(range("10:00..11:00"), "1795338000 1795341600");
    // The end's clock is the first one behind the begin: of the same day, or of the next.
    EXPECT_EQ(range("2026-11-20 10:00..11:00"), "1795165200 1795168800");
    EXPECT_EQ(range("2026-11-20 22:00..02:00"), "1795208400 1795222800");
    EXPECT_EQ(range("2026-11-20..2026-11-21"), "1795129200 1795215600");
    // Between these two the clock is put back, so the night has 25 hours.
    EXPECT_EQ(range("2026-10-24 12:00..2026-10-25 12:00"), "1792836000 1792926000");
}

TEST_F(ParseTime, RefusesRangesThatEndBeforeTheyBegin) {
    EXPECT_THAT(range("now"), HasSubstr("ends before it begins"));
    EXPECT_THAT(range("-1h..-2h"), HasSubstr("ends before it begins"));
    EXPECT_THAT(range("..now"), HasSubstr("times are like"));
}

}  // namespace
}  // namespace bobbin::store
