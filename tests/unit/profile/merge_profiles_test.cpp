// SPDX-License-Identifier: Apache-2.0
#include "profile/merge_profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "profile/pprof.h"
#include "unit/store/minute_profile.h"

namespace bobbin::profile {
namespace {

using aggregate::TimeCount;
using store::test::kMorning;
using store::test::labels_of;
using store::test::MinuteProfile;
using symbolize::NamedProfile;
using symbolize::NamedStack;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kPeriodNs = 50'000'000;

NamedProfile merge(const std::vector<NamedProfile>& profiles) {
    ProfileMerger merger;
    for (const NamedProfile& profile : profiles) merger.add(profile);
    return merger.take();
}

std::string leaf_of(const NamedProfile& profile, const NamedStack& stack) {
    return profile.functions[profile.locations[stack.locations.front()].lines.front().function]
        .name;
}

const NamedStack& stack_of(const NamedProfile& profile, const std::string& leaf) {
    const auto found = std::ranges::find_if(profile.stacks, [&](const NamedStack& stack) {
        return !stack.locations.empty() && leaf_of(profile, stack) == leaf;
    });
    static const NamedStack kNone;
    EXPECT_NE(found, profile.stacks.end()) << leaf;
    return found == profile.stacks.end() ? kNone : *found;
}

TEST(ProfileMerger, AddsUpEqualStacksAndListsEverythingOnce) {
    MinuteProfile first;
    first.add({"work", "main"}, labels_of(7, "app"), {{3, 2}});
    MinuteProfile second(kMorning + std::chrono::seconds{40});
    // The other way round, so that the same things have other numbers.
    second.add({"idle", "main"}, labels_of(7, "app"), {{0, 1}});
    second.add({"work", "main"}, labels_of(7, "app"), {{5, 4}});
    const NamedProfile merged = merge({first.profile, second.profile});

    EXPECT_THAT(merged.mappings, SizeIs(1));
    EXPECT_THAT(merged.functions, SizeIs(3));  // work main idle
    EXPECT_THAT(merged.locations, SizeIs(3));
    ASSERT_THAT(merged.stacks, SizeIs(2));
    const NamedStack& work = stack_of(merged, "work");
    EXPECT_EQ(work.count, 6U);
    EXPECT_EQ(work.value, 6 * kPeriodNs);
    // The second one begins 400 spans of 100 ms after the first.
    EXPECT_THAT(work.times, ElementsAre(TimeCount{3, 2}, TimeCount{405, 4}));
    EXPECT_THAT(stack_of(merged, "idle").times, ElementsAre(TimeCount{400, 1}));
    EXPECT_EQ(merged.sample_count, 7U);
    EXPECT_EQ(merged.by_walk_end[abi::WALK_END_BOTTOM], 7U);
    EXPECT_EQ(merged.started, kMorning);
    EXPECT_EQ(merged.duration, std::chrono::seconds{100});
    EXPECT_EQ(merged.period, MinuteProfile::kPeriod);
}

TEST(ProfileMerger, CountsTimeFromTheEarliestHoweverTheyCome) {
    MinuteProfile late(kMorning + std::chrono::seconds{30});
    late.add({"work"}, labels_of(7, "app"), {{10, 1}});
    MinuteProfile early;
    early.add({"work"}, labels_of(7, "app"), {{20, 1}});
    const NamedProfile merged = merge({late.profile, early.profile});
    EXPECT_EQ(merged.started, kMorning);
    EXPECT_EQ(merged.duration, std::chrono::seconds{90});
    EXPECT_THAT(stack_of(merged, "work").times, ElementsAre(TimeCount{20, 1}, TimeCount{310, 1}));
}

TEST(ProfileMerger, KeepsApartWhatDiffersInLabelsOrEnd) {
    MinuteProfile one;
    one.add({"work"}, labels_of(7, "app"), {{0, 1}}).add({"work"}, labels_of(8, "app"), {{0, 1}});
    one.profile.stacks.push_back(one.profile.stacks.front());
    one.profile.stacks.back().walk_end = abi::WALK_END_NO_MAPPING;
    EXPECT_THAT(merge({one.profile}).stacks, SizeIs(3));
}

TEST(ProfileMerger, TakesTheLongestSpansThereAre) {
    MinuteProfile fine;
    fine.add({"work"}, labels_of(7, "app"), {{3, 1}, {4, 1}, {11, 1}});
    MinuteProfile coarse;
    coarse.profile.time_bucket = std::chrono::milliseconds{400};
    coarse.add({"work"}, labels_of(7, "app"), {{1, 1}});
    const NamedProfile merged = merge({fine.profile, coarse.profile});
    EXPECT_EQ(merged.time_bucket, std::chrono::milliseconds{400});
    // 300 ms; 400 ms, and that of the coarse one; 1100 ms.
    EXPECT_THAT(stack_of(merged, "work").times,
                ElementsAre(TimeCount{0, 1}, TimeCount{1, 2}, TimeCount{2, 1}));
}

TEST(ProfileMerger, LengthensSpansOfLongTimes) {
    std::vector<NamedProfile> hours;
    for (int hour = 0; hour < 24; ++hour) {
        MinuteProfile minute(kMorning + std::chrono::hours{hour});
        hours.push_back(minute.add({"work"}, labels_of(7, "app"), {{0, 1}, {599, 1}}).profile);
    }
    const NamedProfile merged = merge(hours);
    // 23 h 1 min are 828,600 spans of 100 ms; 2^10 times longer ones are 810, 2^9 times 1,619.
    EXPECT_EQ(merged.time_bucket, std::chrono::milliseconds{100} * 1024);
    const aggregate::TimeCounts& times = stack_of(merged, "work").times;
    EXPECT_TRUE(std::ranges::is_sorted(times, {}, &TimeCount::bucket));
    const auto sum =
        std::accumulate(times.begin(), times.end(), 0U,
                        [](unsigned so_far, const TimeCount& time) { return so_far + time.count; });
    EXPECT_EQ(sum, 48U);
    // Hour 1 begins at 3,600 s / 102.4 s = 35.2.
    EXPECT_THAT(times, testing::Contains(TimeCount{35, 2}));
}

TEST(ProfileMerger, HasNoTimesWhenOneHasNone) {
    MinuteProfile timed;
    timed.add({"work"}, labels_of(7, "app"), {{3, 1}});
    MinuteProfile untimed;
    untimed.add({"work"}, labels_of(7, "app"), {{3, 1}});
    untimed.profile.stacks.front().times.clear();
    untimed.profile.time_bucket = std::chrono::nanoseconds{0};
    const NamedProfile merged = merge({timed.profile, untimed.profile});
    EXPECT_EQ(merged.time_bucket.count(), 0);
    EXPECT_THAT(stack_of(merged, "work").times, IsEmpty());
    EXPECT_EQ(stack_of(merged, "work").count, 2U);

    // One that has no samples has no times to know.
    untimed.profile.stacks.clear();
    EXPECT_EQ(merge({timed.profile, untimed.profile}).time_bucket, timed.profile.time_bucket);
}

TEST(ProfileMerger, SaysNoPeriodWhereThereAreTwo) {
    MinuteProfile slow;
    slow.add({"work"}, labels_of(7, "app"), {{3, 1}});
    slow.profile.period = 2 * MinuteProfile::kPeriod;
    slow.profile.stacks.front().value = 2 * kPeriodNs;
    MinuteProfile quick;
    quick.add({"work"}, labels_of(7, "app"), {{3, 1}});
    const NamedProfile merged = merge({slow.profile, quick.profile});
    EXPECT_EQ(merged.period.count(), 0);
    EXPECT_EQ(stack_of(merged, "work").value, 3 * kPeriodNs);
}

TEST(ProfileMerger, SaysACommentOnceAndInOrder) {
    MinuteProfile one;
    one.profile.comments = {"kernel 6.1", "minute 1"};
    MinuteProfile two;
    two.profile.comments = {"kernel 6.1", "minute 2"};
    EXPECT_THAT(merge({one.profile, two.profile}).comments,
                ElementsAre("kernel 6.1", "minute 1", "minute 2"));
}

TEST(ProfileMerger, LeavesOutWhatNoStackRefersTo) {
    MinuteProfile one;
    one.add({"gone"}, labels_of(7, "app"), {{3, 1}}).add({"kept"}, labels_of(7, "app"), {{3, 1}});
    one.profile.stacks.erase(one.profile.stacks.begin());
    const NamedProfile merged = merge({one.profile});
    ASSERT_THAT(merged.functions, SizeIs(1));
    EXPECT_EQ(merged.functions[0].name, "kept");
    EXPECT_THAT(merged.locations, SizeIs(1));
}

// One profile, merged alone, is the same to a reader: equal stacks are listed once there already.
TEST(ProfileMerger, GivesOneProfileBackAsItWas) {
    MinuteProfile one;
    one.add({"work", "main"}, labels_of(7, "app", "app.service"), {{3, 2}, {9, 1}});
    one.add({}, labels_of(8, "no frames"), {{4, 1}});
    one.profile.comments = {"said"};
    EXPECT_EQ(encode_pprof_uncompressed(merge({one.profile}), Times::kKeep),
              encode_pprof_uncompressed(one.profile, Times::kKeep));
}

TEST(ProfileMerger, IsEmptyAfterItWasTaken) {
    MinuteProfile one;
    one.add({"work"}, labels_of(7, "app"), {{3, 2}});
    ProfileMerger merger;
    merger.add(one.profile);
    EXPECT_EQ(merger.take().sample_count, 2U);
    const NamedProfile nothing = merger.take();
    EXPECT_EQ(nothing.sample_count, 0U);
    EXPECT_THAT(nothing.stacks, IsEmpty());
    EXPECT_EQ(nothing.duration.count(), 0);
}

// Process i is sampled i times: of 100 stacks at most 40 stay whole.
TEST(ProfileMerger, FoldsTheRarestBeyondItsLimit) {
    constexpr std::uint32_t kProcesses = 100;
    constexpr std::size_t kLimit = 40;
    MinuteProfile many;
    for (std::uint32_t pid = 1; pid <= kProcesses; ++pid) {
        const std::string leaf = pid % 2 == 0 ? "even" : "odd";
        many.add({leaf, "main"}, labels_of(pid, "app"), {{pid, pid}});
    }
    ProfileMerger merger(kLimit);
    merger.add(many.profile);
    const std::size_t folded = merger.folded_count();
    const NamedProfile merged = merger.take();

    EXPECT_EQ(folded, kProcesses - kLimit / 2);
    EXPECT_THAT(merged.stacks, SizeIs(kLimit / 2 + 2));  // and one each of even and odd
    std::map<std::string, std::uint64_t> self;
    std::uint64_t in_times = 0;
    std::uint64_t whole = 0;
    for (const NamedStack& stack : merged.stacks) {
        self[leaf_of(merged, stack)] += stack.count;
        for (const TimeCount& time : stack.times) in_times += time.count;
        if (stack.labels.pid == 0) {
            EXPECT_THAT(stack.locations, SizeIs(1));
            EXPECT_EQ(stack.labels.comm, "app");
        } else {
            EXPECT_THAT(stack.locations, SizeIs(2));
            EXPECT_GT(stack.labels.pid, kProcesses - kLimit / 2);
            ++whole;
        }
    }
    EXPECT_EQ(whole, kLimit / 2);
    EXPECT_EQ(self["even"], 2550U);  // 2 + 4 + ... + 100
    EXPECT_EQ(self["odd"], 2500U);   // 1 + 3 + ... + 99
    EXPECT_EQ(merged.sample_count, 5050U);
    EXPECT_EQ(in_times, 5050U);
}

}  // namespace
}  // namespace bobbin::profile
