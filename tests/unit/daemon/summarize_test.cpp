// SPDX-License-Identifier: Apache-2.0
#include "daemon/summarize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace bobbin::daemon {
namespace {

// Two functions of `app`, one unnamed place of libx; 6 samples hot <- main, 4 libx+0x10 <- main.
symbolize::NamedProfile small_profile() {
    symbolize::NamedProfile profile;
    profile.mappings = {{.file = "/bin/app"}, {.file = "/lib/libx.so"}};
    profile.functions = {{.name = "hot()"}, {.name = "main"}, {.name = "libx.so+0x10"}};
    profile.locations = {{.mapping = 0, .lines = {{.function = 0}}, .is_named = true},
                         {.mapping = 0, .lines = {{.function = 1}}, .is_named = true},
                         {.mapping = 1, .lines = {{.function = 2}}, .is_named = false}};
    symbolize::NamedStack hot{.locations = {0, 1}, .count = 6};
    hot.labels.comm = "app";
    symbolize::NamedStack unnamed{.locations = {2, 1}, .count = 4};
    unnamed.labels.comm = "app";
    profile.stacks = {hot, unnamed};
    profile.sample_count = 10;
    return profile;
}

TEST(Summarize, CountsFramesAndNamesWeightedBySamples) {
    const auto summary = summarize(small_profile(), executable::Catalog{}, {});
    EXPECT_EQ(summary.frame_count, 20U);
    EXPECT_EQ(summary.named_frame_count, 16U);
    ASSERT_EQ(summary.unnamed_modules.size(), 1U);
    EXPECT_EQ(summary.unnamed_modules[0].module, "/lib/libx.so");
    EXPECT_DOUBLE_EQ(summary.unnamed_modules[0].share_of_frames, 0.2);
}

TEST(Summarize, PutsTheHottestLeafFirst) {
    const auto summary = summarize(small_profile(), executable::Catalog{}, {});
    ASSERT_EQ(summary.hottest.size(), 2U);
    EXPECT_EQ(summary.hottest[0].function, "hot()");
    EXPECT_EQ(summary.hottest[0].process, "app");
    EXPECT_DOUBLE_EQ(summary.hottest[0].share_of_samples, 0.6);
    EXPECT_EQ(summary.hottest[1].function, "libx.so+0x10");
}

TEST(Summarize, NamesRefusedFilesAndTheirReasons) {
    executable::Catalog catalog;
    executable::Executable good;
    good.id = 2;
    executable::Executable bad;
    bad.id = 3;
    bad.path = "/opt/broken";
    bad.refused = "truncated";
    catalog.add(std::move(good));
    catalog.add(std::move(bad));
    const auto summary = summarize(small_profile(), catalog, {});
    ASSERT_EQ(summary.refused_files.size(), 1U);
    EXPECT_EQ(summary.refused_files[0].path, "/opt/broken");
    EXPECT_EQ(summary.refused_files[0].reason, "truncated");
}

TEST(Summarize, OfNothingDividesByNothing) {
    const auto summary = summarize(symbolize::NamedProfile{}, executable::Catalog{}, {});
    EXPECT_EQ(summary.frame_count, 0U);
    EXPECT_TRUE(summary.hottest.empty());
}

TEST(DescribeAccounting, StatesEveryOutcome) {
    abi::outcome_counters counters{};
    counters.ticks = 10;
    counters.by_tick_outcome[abi::TICK_EMITTED] = 7;
    counters.by_tick_outcome[abi::TICK_RING_FULL] = 3;
    counters.by_walk_end[abi::WALK_END_BOTTOM] = 6;
    counters.by_walk_end[abi::WALK_END_FILE_NOT_READY] = 1;
    counters.stack_copies = 4;
    counters.stack_copies_left_out = 5;
    EXPECT_EQ(describe_accounting(counters, {}, {}),
              "accounting: ticks=10 emitted=7 ring_full=3 not_a_target=0 out_of_scope=0 idle=0 "
              "no_state=0 walk_not_run=0 announcements_lost=0 stack_bottom=6 "
              "stack_file_not_ready=1 stack_copies=4 resumed=0 stack_copies_left_out=5 "
              "stack_copies_displaced=0");
}

// 3 of 4 that waited went on: 2 to the bottom and 1 to where the stack could not be read.
TEST(DescribeAccounting, StatesHowResumedWalksEndedInTheEnd) {
    abi::outcome_counters counters{};
    counters.ticks = 10;
    counters.by_tick_outcome[abi::TICK_EMITTED] = 10;
    counters.by_walk_end[abi::WALK_END_BOTTOM] = 6;
    counters.by_walk_end[abi::WALK_END_FILE_NOT_READY] = 4;
    counters.stack_copies = 4;
    ResumedWalks resumed;
    resumed.by_walk_end[abi::WALK_END_BOTTOM] = 2;
    resumed.by_walk_end[abi::WALK_END_STACK_UNREADABLE] = 1;
    resumed.displaced_count = 1;
    EXPECT_THAT(describe_accounting(counters, resumed, {}),
                testing::HasSubstr(" stack_bottom=8 stack_file_not_ready=1 "
                                   "stack_stack_unreadable=1 stack_copies=4 resumed=3 "
                                   "stack_copies_left_out=0 stack_copies_displaced=1"));
}

TEST(DescribeAccounting, StatesWhatWasShortenedAsThat) {
    abi::outcome_counters counters{};
    counters.by_walk_end[abi::WALK_END_BOTTOM] = 6;
    WalkEndCounts shortened_from{};
    shortened_from[abi::WALK_END_BOTTOM] = 2;
    const std::string text = describe_accounting(counters, {}, shortened_from);
    EXPECT_THAT(text, testing::HasSubstr(" stack_bottom=4 "));
    EXPECT_THAT(text, testing::HasSubstr(" stack_no_memory=2 "));
}

}  // namespace
}  // namespace bobbin::daemon
