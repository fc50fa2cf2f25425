// SPDX-License-Identifier: Apache-2.0
// Who is sampled, which frames, how often, how long.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/expected_stacks.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

TEST(RecordOfOneProcess, HoldsNobodyElse) {
    ChildProcess wanted({fixture_path("known_chain.gcc.pie")});
    ChildProcess other({fixture_path("known_chain.clang.pie")});
    ASSERT_TRUE(wanted.wait_for_output("running"));
    ASSERT_TRUE(other.wait_for_output("running"));

    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499", "-d", "2", "-p", std::to_string(wanted.pid())}, {});
    EXPECT_GT(run.profile.sample_count(), 0U);
    for (const Stack& stack : run.profile.stacks)
        EXPECT_EQ(stack.label("pid"), std::to_string(wanted.pid())) << describe(stack);
    EXPECT_GT(accounting_of(run.profile)["not_a_target"], 0U);
}

// The process works for 2 s and is not bobbin's child: its end is the recording's.
TEST(RecordOfOneProcess, EndsWithIt) {
    ChildProcess wanted({fixture_path("known_chain.gcc.pie"), "2"});
    ASSERT_TRUE(wanted.wait_for_output("running"));
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499", "-p", std::to_string(wanted.pid())}, {});
    EXPECT_GT(run.profile.sample_count(), 0U);
    EXPECT_EQ(wanted.wait().exit_status, 0);
}

TEST(RecordOfTwoProcesses, HoldsBoth) {
    ChildProcess first({fixture_path("known_chain.gcc.pie")});
    ChildProcess second({fixture_path("known_chain.clang.pie")});
    ASSERT_TRUE(first.wait_for_output("running"));
    ASSERT_TRUE(second.wait_for_output("running"));

    const TemporaryDirectory directory;
    const RecordedRun run = record(directory,
                                   {"-F", "499", "-d", "2s", "-p", std::to_string(first.pid()),
                                    "-p", std::to_string(second.pid())},
                                   {});
    EXPECT_GT(run.profile.sample_count_of(comm_of("known_chain.gcc.pie")), 0U);
    EXPECT_GT(run.profile.sample_count_of(comm_of("known_chain.clang.pie")), 0U);
}

TEST(RecordOfUserFramesOnly, HasNoKernelFrame) {
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499", "-U"}, {fixture_path("kernel_work.gcc.pie"), "2"});
    EXPECT_GE(run.profile.sample_count(), 300U);
    for (const Stack& stack : run.profile.stacks)
        EXPECT_FALSE(stack.has_kernel_frames()) << describe(stack);
}

TEST(RecordOfKernelFramesOnly, HasNoUserFrame) {
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499", "-K"}, {fixture_path("kernel_work.gcc.pie"), "2"});
    EXPECT_GE(run.profile.sample_count(), 300U);
    for (const Stack& stack : run.profile.stacks) {
        EXPECT_TRUE(stack.has_kernel_frames()) << describe(stack);
        EXPECT_TRUE(stack.user_frames().empty()) << describe(stack);
    }
}

// A program that never enters the kernel gives next to nothing when only the kernel is asked for:
// what is left away is counted as such, not lost.
TEST(RecordOfKernelFramesOnly, CountsTheUserModeTicksItLeavesOut) {
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499", "-K"}, {fixture_path("known_chain.gcc.pie"), "2"});
    EXPECT_GE(accounting_of(run.profile)["out_of_scope"], 300U);
}

// The fixture works for a known CPU time, so samples times period must come near it. Where the host
// takes CPU time away the timer's missed periods are not made up for, hence the lower limit.
class RecordFrequency : public testing::TestWithParam<int> {};

TEST_P(RecordFrequency, GivesSamplesInProportion) {
    const int frequency_hz = GetParam();
    const TemporaryDirectory directory;
    const RecordedRun run = record(directory, {"-F", std::to_string(frequency_hz)},
                                   {fixture_path("known_chain.gcc.pie"), "4"});
    const double expected = 4.0 * frequency_hz;
    EXPECT_EQ(run.profile.period, 1'000'000'000U / static_cast<unsigned>(frequency_hz));
    EXPECT_GE(static_cast<double>(run.profile.sample_count()), 0.6 * expected - 2);
    EXPECT_LE(static_cast<double>(run.profile.sample_count()), 1.2 * expected + 2);
}

INSTANTIATE_TEST_SUITE_P(Hz, RecordFrequency, testing::Values(1, 99, 100, 4000),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace bobbin::test
