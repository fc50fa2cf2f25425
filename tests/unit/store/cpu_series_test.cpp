// SPDX-License-Identifier: Apache-2.0
#include "store/cpu_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/cut_to_range.h"
#include "unit/store/minute_profile.h"

namespace bobbin::store {
namespace {

using By = StoreReader::By;
using std::chrono::seconds;
using test::kMorning;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::SizeIs;

// A sample is 50 ms of CPU time, so 20 in a second are a core.
symbolize::NamedProfile some_minute() {
    test::MinuteProfile minute;
    minute.add({"work"}, test::labels_of(7, "app", "app.service"), {{0, 20}, {10, 10}, {25, 10}});
    minute.add({"idle"}, test::labels_of(8, "cron", "cron.service"), {{9, 2}});
    minute.add({"main"}, test::labels_of(9, "bash"), {{30, 1}});
    return minute.profile;
}

std::vector<StoreReader::Series> series(By by, std::size_t max_series) {
    CpuSeries all({kMorning, kMorning + seconds{4}}, seconds{1}, by);
    all.add(some_minute());
    return all.take(max_series);
}

TEST(CpuSeries, AddsUpCoresByUnit) {
    const auto units = series(By::kUnit, 10);
    ASSERT_THAT(units, SizeIs(3));
    EXPECT_EQ(units[0].name, "app.service");
    EXPECT_THAT(units[0].cores, ElementsAre(DoubleEq(1), DoubleEq(0.5), DoubleEq(0.5), 0));
    EXPECT_EQ(units[1].name, "cron.service");
    EXPECT_THAT(units[1].cores, ElementsAre(DoubleEq(0.1), 0, 0, 0));
    EXPECT_EQ(units[2].name, "");  // what no unit owns
    EXPECT_THAT(units[2].cores, ElementsAre(0, 0, 0, DoubleEq(0.05)));
}

TEST(CpuSeries, AddsUpTheRestWithoutAName) {
    const auto comms = series(By::kComm, 1);
    ASSERT_THAT(comms, SizeIs(2));
    EXPECT_EQ(comms[0].name, "app");
    EXPECT_EQ(comms[1].name, "");
    EXPECT_THAT(comms[1].cores, ElementsAre(DoubleEq(0.1), 0, 0, DoubleEq(0.05)));
}

TEST(CpuSeries, AddsUpAll) {
    const auto all = series(By::kAll, 1);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_THAT(all[0].cores,
                ElementsAre(DoubleEq(1.1), DoubleEq(0.5), DoubleEq(0.5), DoubleEq(0.05)));
}

// A span from 0.5 s before a step's end to 0.5 s behind it, and a minute of which 4 s are shown.
TEST(CpuSeries, SpreadsWhatLiesInSeveralSteps) {
    test::MinuteProfile minute(kMorning + std::chrono::milliseconds{500});
    minute.profile.time_bucket = seconds{1};
    minute.add({"work"}, test::labels_of(7, "app"), {{0, 20}});
    CpuSeries halves({kMorning, kMorning + seconds{2}}, seconds{1}, By::kAll);
    halves.add(minute.profile);
    EXPECT_THAT(halves.take(1).at(0).cores, ElementsAre(DoubleEq(0.5), DoubleEq(0.5)));

    symbolize::NamedProfile untimed = some_minute();
    for (auto& stack : untimed.stacks) stack.times.clear();
    CpuSeries part({kMorning, kMorning + seconds{4}}, seconds{4}, By::kAll);
    part.add(untimed);
    // 43 samples of 50 ms in 60 s.
    EXPECT_THAT(part.take(1).at(0).cores, ElementsAre(DoubleEq(43 * 0.05 / 60)));
}

TEST(CutToRange, LeavesTheSpansThatBeginInIt) {
    symbolize::NamedProfile profile = some_minute();
    cut_to_range({kMorning + std::chrono::milliseconds{950}, kMorning + seconds{3}}, profile);
    ASSERT_THAT(profile.stacks, SizeIs(1));
    // From 1.0 s, span 10, on: spans 10 and 25.
    EXPECT_THAT(profile.stacks[0].times,
                ElementsAre(aggregate::TimeCount{0, 10}, aggregate::TimeCount{15, 10}));
    EXPECT_EQ(profile.stacks[0].count, 20U);
    EXPECT_EQ(profile.stacks[0].value, 20U * 50'000'000);
    EXPECT_EQ(profile.started, kMorning + seconds{1});
    EXPECT_EQ(profile.duration, seconds{2});
    EXPECT_EQ(profile.sample_count, 20U);
    EXPECT_EQ(profile.by_walk_end[abi::WALK_END_BOTTOM], 20U);
}

TEST(CutToRange, LeavesWhatLiesInItAsItIs) {
    symbolize::NamedProfile profile = some_minute();
    cut_to_range({kMorning - seconds{1}, kMorning + seconds{60}}, profile);
    EXPECT_EQ(profile.sample_count, 43U);
    EXPECT_EQ(profile.duration, seconds{60});
}

TEST(CutToRange, PutsASampleIntoOneOfTwoRangesThatMeet) {
    for (const int milliseconds : {1'000, 950, 1'001, 2'550}) {
        const auto middle = kMorning + std::chrono::milliseconds{milliseconds};
        symbolize::NamedProfile before = some_minute();
        symbolize::NamedProfile behind = some_minute();
        cut_to_range({kMorning, middle}, before);
        cut_to_range({middle, kMorning + seconds{60}}, behind);
        EXPECT_EQ(before.sample_count + behind.sample_count, 43U) << milliseconds;
    }
}

}  // namespace
}  // namespace bobbin::store
