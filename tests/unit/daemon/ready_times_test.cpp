// SPDX-License-Identifier: Apache-2.0
#include "daemon/ready_times.h"

#include <gtest/gtest.h>

#include "bobbin/bpf_abi.h"

namespace bobbin::daemon {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kThen = 1'000'000'000;

void note(ReadyTimes& times, std::chrono::nanoseconds passed, std::uint32_t reason) {
    times.note({.time_ns = kThen, .reason = reason}, std::chrono::nanoseconds{kThen} + passed);
}

// A part of an octave goes from 2^k * p / 8 to 2^k * (p + 1) / 8. 2,000,000 = 2^20 * 15.26 / 8, so
// it ends at 2^20 * 16 / 8 = 2,097,152 ns; 9,000,000 = 2^23 * 8.58 / 8 ends at 2^23 * 9 / 8 =
// 9,437,184.
TEST(ReadyTimes, SayMedianAndTheSlowestHundredth) {
    ReadyTimes times;
    for (int i = 0; i < 98; ++i) note(times, 2ms, abi::ANNOUNCED_BY_EXEC);
    note(times, 9ms, abi::ANNOUNCED_BY_EXEC);
    note(times, 5s, abi::ANNOUNCED_BY_EXEC);
    EXPECT_EQ(times.describe(),
              "ready after exec: 100 files, median 2.10 ms, 99 % within 9.44 ms; after a sample: "
              "none");
}

TEST(ReadyTimes, KeepExecAndSampleApart) {
    ReadyTimes times;
    note(times, 0ns, abi::ANNOUNCED_BY_SAMPLE);
    note(times, -1ms, abi::ANNOUNCED_BY_SAMPLE);
    note(times, 2ms, abi::ANNOUNCED_AT_START);
    EXPECT_EQ(times.describe(),
              "ready after exec: none; after a sample: 2 files, median 0.00 ms, 99 % within 0.00 "
              "ms");
}

// 2^63 ns are 292 years.
TEST(ReadyTimes, HoldAnyNumber) {
    ReadyTimes times;
    times.note({.time_ns = 1, .reason = abi::ANNOUNCED_BY_EXEC}, std::chrono::nanoseconds::max());
    EXPECT_NE(times.describe().find("1 files"), std::string::npos);
}

TEST(ReadyTimes, LeaveOutWhatNobodyAnnounced) {
    ReadyTimes times;
    times.note({}, 5s);
    EXPECT_EQ(times.describe(), "ready after exec: none; after a sample: none");
}

}  // namespace
}  // namespace bobbin::daemon
