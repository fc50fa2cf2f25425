// SPDX-License-Identifier: Apache-2.0
// Code that no unwind information describes, with a frame pointer: compiled without it, or made at
// run time. One step along the frame pointer, and back to unwind information where there is any.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/sampled_fixture.h"
#include "support/fixture_test_name.h"

namespace bobbin::test {
namespace {

class ProgramWithoutCfi : public testing::TestWithParam<std::string> {};

TEST_P(ProgramWithoutCfi, IsFoundByItsFramePointers) {
    const ProfileText profile = sample_fixture(GetParam(), "2");
    expect_whole_stacks(profile, GetParam(), leaf_is_in({GetParam()}),
                        is_the_chain_above(below_main()));
}

INSTANTIATE_TEST_SUITE_P(Of, ProgramWithoutCfi,
                         testing::Values("known_chain.gcc.no_cfi", "known_chain.clang.no_cfi"),
                         fixture_test_name);

class MixedWithAndWithoutCfi : public testing::TestWithParam<std::string> {};

TEST_P(MixedWithAndWithoutCfi, IsFoundDownToStart) {
    const ProfileText profile = sample_fixture(GetParam(), "2");
    const ExpectedStack whole =
        ExpectedStack{named("plain_leaf"), named("with_cfi_inner"), named("plain_middle"),
                      named("plain_outer"), named("with_cfi_outer")} +
        below_main();
    expect_whole_stacks(profile, GetParam(), leaf_is_in({GetParam()}), is_exactly(whole));
}

INSTANTIATE_TEST_SUITE_P(Of, MixedWithAndWithoutCfi,
                         testing::Values("no_cfi_mixed.gcc.pie", "no_cfi_mixed.clang.pie"),
                         fixture_test_name);

class GeneratedCode : public testing::TestWithParam<std::string> {};

TEST_P(GeneratedCode, IsCrossedByItsFramePointer) {
    const RecordedRun run = record_fixture(GetParam());
    const std::vector<Stack> stacks = run.profile.stacks_of(comm_of(GetParam()));
    const ExpectedFrame generated = unnamed_in("[anon]");
    const ExpectedStack called_by_generated{named("burn_in_callback"), named("called_back"),
                                            generated, named("call_generated")};
    expect_exact("callback", stacks, leaf_is("burn_in_callback"),
                 is_exactly(called_by_generated + below_main()));

    const ExpectedStack whole = ExpectedStack{generated, named("call_generated")} + below_main();
    expect_exact("leaf", stacks, leaf_is_in({"[anon]"}), any_of_these({whole, {generated}}));
    const Verdict leaves = judge(stacks, is_exactly(whole), every_stack);
    EXPECT_GE(leaves.judged, kFewestOfMany);

    const Verdict frameless = judge(stacks, is_exactly({generated}), every_stack);
    EXPECT_GE(frameless.judged, kFewestOfMany);
    EXPECT_NEAR(
        share_ended(run, abi::WALK_END_ANONYMOUS),
        static_cast<double>(frameless.judged) / static_cast<double>(run.profile.sample_count()),
        0.01)
        << run.process.standard_error;
}

INSTANTIATE_TEST_SUITE_P(Of, GeneratedCode,
                         testing::Values("generated_code.gcc.pie", "generated_code.clang.pie"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test
