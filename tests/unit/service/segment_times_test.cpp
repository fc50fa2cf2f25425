// SPDX-License-Identifier: Apache-2.0
#include "service/segment_times.h"

#include <gtest/gtest.h>

namespace bobbin::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::chrono::system_clock::time_point at(milliseconds since_a_whole_hour) {
    return std::chrono::system_clock::time_point{std::chrono::hours{480'000} + since_a_whole_hour};
}

TEST(SegmentTimes, EndWithTheMinute) {
    EXPECT_EQ(until_segment_ends(at(seconds{20}), minutes{1}), seconds{40});
    EXPECT_EQ(until_segment_ends(at(seconds{0}), minutes{1}), minutes{1});
    EXPECT_EQ(until_segment_ends(at(minutes{59}), minutes{15}), minutes{15 + 1});
}

// The timer ended 2 ms before the minute did.
TEST(SegmentTimes, LeaveNoSegmentOfMilliseconds) {
    EXPECT_EQ(until_segment_ends(at(seconds{60} - milliseconds{2}), minutes{1}),
              seconds{60} + milliseconds{2});
    EXPECT_EQ(until_segment_ends(at(seconds{54}), minutes{1}), seconds{6});
}

}  // namespace
}  // namespace bobbin::service
