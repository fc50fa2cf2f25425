// SPDX-License-Identifier: Apache-2.0
// Stacks that cannot be had to their bottom, and say so: nothing is dropped.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/sampled_fixture.h"
#include "support/fixture_test_name.h"

namespace bobbin::test {
namespace {

class DeeperStack : public testing::TestWithParam<std::string> {};

TEST_P(DeeperStack, KeepsTheFramesNearestTheLeaf) {
    const RecordedRun run = record_fixture(GetParam(), "2");
    const std::vector<Stack> stacks = run.profile.stacks_of(comm_of(GetParam()));
    expect_exact("exact", stacks, leaf_is("descend"),
                 is_exactly(ExpectedStack(abi::MAX_USER_FRAMES, named("descend"))));
    expect_ended(run, "descend", abi::WALK_END_TRUNCATED);
}

INSTANTIATE_TEST_SUITE_P(Of, DeeperStack,
                         testing::Values("deeper_stack.gcc.pie", "deeper_stack.clang.pie"),
                         fixture_test_name);

class UnreadableStack : public testing::TestWithParam<std::string> {};

// record() has already seen that every tick is accounted for and every sample in the profile.
TEST_P(UnreadableStack, IsKeptUpToTheMemoryThatIsNotThere) {
    const RecordedRun run = record_fixture(GetParam(), "2");
    const std::vector<Stack> stacks = run.profile.stacks_of(comm_of(GetParam()));
    expect_exact("exact", stacks, leaf_is("burn_below_gap"),
                 is_exactly({named("burn_below_gap"), named("leave_gap")}));
    expect_ended(run, "burn_below_gap", abi::WALK_END_STACK_UNREADABLE);
}

INSTANTIATE_TEST_SUITE_P(Of, UnreadableStack,
                         testing::Values("unreadable_stack.gcc.pie", "unreadable_stack.clang.pie"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test
