// SPDX-License-Identifier: Apache-2.0
#include "service/segment_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

namespace bobbin::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::chrono::system_clock::time_point kBegin{std::chrono::hours{480'000}};

void count_samples(daemon::RateCounts& counts, std::uint64_t samples) {
    counts.counted.sample_count = samples;
    counts.counted.by_walk_end[abi::WALK_END_BOTTOM] = samples;
}

Part part_of(std::uint64_t samples, milliseconds period, seconds begin, seconds duration) {
    Part part{.by_rate = {{period, {}}}, .begin = kBegin + begin, .duration = duration};
    count_samples(part.by_rate.back(), samples);
    part.counters.ticks = samples + 1;
    part.counters.by_tick_outcome[abi::TICK_EMITTED] = samples;
    part.counters.by_tick_outcome[abi::TICK_IDLE] = 1;
    return part;
}

// One function, all in the second 0.1 s.
daemon::NamedStacks name_all_main(const Part&, const aggregate::CountedStacks& counted) {
    symbolize::NamedProfile profile;
    profile.mappings.push_back({.file = "/usr/bin/shop"});
    profile.functions.push_back({.name = "main", .system_name = "main", .file = {}});
    profile.locations.push_back({.address = 0x1000, .lines = {{}}, .is_named = true});
    const auto count = static_cast<std::uint32_t>(counted.sample_count);
    profile.stacks.push_back({.locations = {0}, .count = count, .times = {{1, count}}});
    profile.sample_count = count;
    profile.by_walk_end = counted.by_walk_end;
    profile.time_bucket = milliseconds{100};
    return {.profile = std::move(profile), .name_losses = {}};
}

Parts shared(std::vector<Part> parts) {
    Parts result;
    for (Part& part : parts) result.push_back(std::make_shared<const Part>(std::move(part)));
    return result;
}

// 30 samples of 10 ms and 4 of 100 ms: 700 ms.
TEST(SegmentProfile, GivesEachSampleTheTimeThatItStoodFor) {
    const Segment segment{
        .parts = shared({part_of(30, milliseconds{10}, seconds{0}, seconds{40}),
                         part_of(0, milliseconds{50}, seconds{40}, seconds{1}),
                         part_of(4, milliseconds{100}, seconds{41}, seconds{19})}),
        .begin = kBegin,
        .duration = seconds{60}};
    const auto profile = make_segment_profile(segment, name_all_main);
    ASSERT_EQ(profile.stacks.size(), 1U);
    EXPECT_EQ(profile.stacks[0].count, 34U);
    EXPECT_EQ(profile.stacks[0].value, 700'000'000U);
    EXPECT_EQ(profile.period.count(), 0);
    EXPECT_EQ(profile.started, kBegin);
    EXPECT_EQ(profile.duration, seconds{60});
    EXPECT_EQ(profile.stacks[0].times, (aggregate::TimeCounts{{1, 30}, {411, 4}}));
}

// 2 samples of 100 ms were read among 30 of 10 ms: 500 ms.
TEST(SegmentProfile, GivesLateSamplesOfAnotherRateTheirOwnTime) {
    Part part = part_of(30, milliseconds{10}, seconds{0}, seconds{60});
    count_samples(*part.by_rate.insert(part.by_rate.begin(), {milliseconds{100}, {}}), 2);
    const Segment segment{
        .parts = shared({std::move(part)}), .begin = kBegin, .duration = seconds{60}};
    const auto profile = make_segment_profile(segment, name_all_main);
    ASSERT_EQ(profile.stacks.size(), 1U);
    EXPECT_EQ(profile.stacks[0].count, 32U);
    EXPECT_EQ(profile.stacks[0].value, 500'000'000U);
    EXPECT_EQ(profile.duration, seconds{60});
    EXPECT_THAT(profile.comments, Contains("rate: 100 to 10 Hz"));
    EXPECT_THAT(profile.comments, Contains(HasSubstr("stack_bottom=32")));
}

TEST(SegmentProfile, SaysWhatBecameOfEveryTickOfItsParts) {
    const Segment segment{.parts = shared({part_of(30, milliseconds{10}, seconds{0}, seconds{40}),
                                           part_of(4, milliseconds{10}, seconds{40}, seconds{20})}),
                          .begin = kBegin,
                          .duration = seconds{60},
                          .notes = {"closed early"}};
    const auto profile = make_segment_profile(segment, name_all_main);
    EXPECT_EQ(profile.period, milliseconds{10});
    EXPECT_THAT(profile.comments, Contains("closed early"));
    EXPECT_THAT(profile.comments, Contains("rate: 100 Hz"));
    EXPECT_THAT(profile.comments, Contains(HasSubstr("accounting: ticks=36 emitted=34")));
    EXPECT_THAT(profile.comments, Contains(HasSubstr("idle=2")));
    EXPECT_THAT(profile.comments, Contains(HasSubstr("stack_bottom=34")));
}

TEST(SegmentProfile, OfANightWithoutSamplesStillSaysWhenItWas) {
    const Segment segment{.parts = shared({part_of(0, milliseconds{50}, seconds{0}, seconds{60})}),
                          .begin = kBegin,
                          .duration = seconds{60}};
    const auto profile = make_segment_profile(segment, name_all_main);
    EXPECT_TRUE(profile.stacks.empty());
    EXPECT_EQ(profile.started, kBegin);
    EXPECT_EQ(profile.duration, seconds{60});
}

}  // namespace
}  // namespace bobbin::service
