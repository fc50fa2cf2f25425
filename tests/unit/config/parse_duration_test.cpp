// SPDX-License-Identifier: Apache-2.0
#include "config/parse_duration.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace bobbin::config {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, ReadsUnitsFromLargeToSmall) {
    const std::vector<std::pair<const char*, std::chrono::nanoseconds>> cases{
        {"10", 10s},        {"10s", 10s},        {"500ms", 500ms},
        {"1m30s", 90s},     {"2h", 7200s},       {"1h1m1s1ms", 3661001ms},
        {"90m", 5400s},     {"1s500ms", 1500ms}, {"1m5ms", 60005ms},
        {"0h1s", 1s},       {"0010", 10s},       {"8760h", 8760h},
        {"7d", 168h},       {"1d1h", 25h},       {"365d", 8760h},
        {"31536000", 8760h}};
    for (const auto& [text, expected] : cases) {
        const Result<std::chrono::nanoseconds> parsed = parse_duration(text);
        ASSERT_TRUE(parsed) << text << ": " << parsed.error().message();
        EXPECT_EQ(*parsed, expected) << text;
    }
}

TEST(ParseDuration, RefusesWhatIsNoDuration) {
    for (const char* text :
         {"", " ", "s", "ten", "10x", "10 s", " 10", "10s ", "-10", "+10", "1.5s", "1,5s", "10sec",
          "1m30", "30s1m", "1s1s", "ms", "1ns", "1us"}) {
        EXPECT_FALSE(parse_duration(text)) << "'" << text << "'";
    }
}

TEST(ParseDuration, RefusesNoTimeAtAll) {
    for (const char* text : {"0", "0s", "0h0m0s0ms"}) {
        const Result<std::chrono::nanoseconds> parsed = parse_duration(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().message(), "nothing can be recorded in no time") << text;
    }
}

// 2^64 seconds, and sums that would wrap around.
TEST(ParseDuration, RefusesMoreThanAYear) {
    for (const char* text :
         {"31536001", "8760h1ms", "366d", "365d1ms", "18446744073709551615", "18446744073709551616",
          "5124095576030431h", "525600m1s", "8760h18446744073709551615ms"}) {
        const Result<std::chrono::nanoseconds> parsed = parse_duration(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().message(), "longer than a year") << text;
    }
}

}  // namespace
}  // namespace bobbin::config
