// SPDX-License-Identifier: Apache-2.0
#include "aggregate/sample_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "aggregate/stack_counts.h"

namespace bobbin::aggregate {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;

TEST(SampleTimes, CountTheSamplesOfASpan) {
    TimeCounts times;
    for (const std::uint32_t bucket : {3U, 3U, 7U}) add_time(times, bucket);
    EXPECT_THAT(times, ElementsAre(TimeCount{3, 2}, TimeCount{7, 1}));
}

TEST(SampleTimes, TakeASampleThatComesLate) {
    TimeCounts times;
    for (const std::uint32_t bucket : {3U, 7U, 5U, 3U, 0U}) add_time(times, bucket);
    EXPECT_THAT(times,
                ElementsAre(TimeCount{0, 1}, TimeCount{3, 2}, TimeCount{5, 1}, TimeCount{7, 1}));
}

TEST(SampleTimes, InSpansTwiceAsLongKeepTheirCounts) {
    TimeCounts times{{0, 1}, {2, 10}, {3, 20}, {9, 5}};
    halve_buckets(times);
    EXPECT_THAT(times, ElementsAre(TimeCount{0, 1}, TimeCount{1, 30}, TimeCount{4, 5}));
}

TEST(TimeSpans, CountFromTheStart) {
    TimeSpans spans;
    spans.begin_at(milliseconds{5'000});
    EXPECT_EQ(spans.bucket_of(milliseconds{5'000}), 0U);
    EXPECT_EQ(spans.bucket_of(milliseconds{5'099}), 0U);
    EXPECT_EQ(spans.bucket_of(milliseconds{5'100}), 1U);
    EXPECT_EQ(spans.bucket_of(milliseconds{4'000}), 0U);
    // 1,024 spans of 100 ms.
    EXPECT_TRUE(spans.fits(milliseconds{5'000 + 102'399}));
    EXPECT_FALSE(spans.fits(milliseconds{5'000 + 102'400}));
}

struct OneStack {
    abi::sample_header header{};
    std::vector<abi::frame_word> frames{1, 2};

    void add_to(StackCounts& counts, nanoseconds time) {
        header.time_ns = static_cast<std::uint64_t>(time.count());
        counts.add({.header = &header, .user_frames = frames});
    }
};

TEST(StackCounts, SaysWhenSamplesCame) {
    StackCounts counts;
    counts.begin_at(milliseconds{1'000});
    OneStack stack;
    for (const int at_ms : {1'000, 1'050, 1'950}) stack.add_to(counts, milliseconds{at_ms});
    EXPECT_EQ(counts.counted().time_bucket, milliseconds{100});
    EXPECT_THAT(counts.counted().stacks.at(0).times, ElementsAre(TimeCount{0, 2}, TimeCount{9, 1}));
}

TEST(StackCounts, OfALongRecordingHasLongerSpans) {
    StackCounts counts;
    OneStack stack;
    stack.add_to(counts, milliseconds{250});
    stack.add_to(counts, milliseconds{350});
    // An hour is 563 spans of 6.4 s: 100 ms doubled six times.
    stack.add_to(counts, std::chrono::hours{1} - milliseconds{1});
    EXPECT_EQ(counts.counted().time_bucket, milliseconds{6'400});
    EXPECT_THAT(counts.counted().stacks.at(0).times,
                ElementsAre(TimeCount{0, 2}, TimeCount{562, 1}));
}

TEST(StackCounts, WithLittleMemoryHasLongerSpans) {
    // An eighth of 8,000 bytes: 125 counts of 8 bytes.
    StackCounts counts(hash_of, 8'000);
    OneStack stack;
    std::uint64_t counted = 0;
    for (int i = 0; i < 1'000; ++i) stack.add_to(counts, milliseconds{100} * i);
    const auto& times = counts.counted().stacks.at(0).times;
    for (const TimeCount& time : times) counted += time.count;
    EXPECT_EQ(counted, 1'000U);
    EXPECT_LE(times.size(), 125U);
    // 1,000 spans doubled three times.
    EXPECT_EQ(counts.counted().time_bucket, milliseconds{800});
}

}  // namespace
}  // namespace bobbin::aggregate
