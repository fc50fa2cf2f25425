// SPDX-License-Identifier: Apache-2.0
// Rules that few functions need: fixtures/leaf_rules.c burns in the states that need them. Where no
// rule helps, the walk ends and says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernel/sampled_fixture.h"
#include "support/fixture_test_name.h"

namespace bobbin::test {
namespace {

class RareRules : public testing::TestWithParam<std::string> {};

TEST_P(RareRules, LeadToTheCallerOrSayWhyNot) {
    const RecordedRun run = record_fixture(GetParam(), "4");
    const std::vector<Stack> stacks = run.profile.stacks_of(comm_of(GetParam()));

    for (const char* function : {"cfa_from_r10", "cfa_from_rax", "cfa_in_memory", "cfa_far_away",
                                 "caller_in_rdi", "rbp_far_from_cfa"}) {
        expect_exact(
            function, stacks, leaf_is(function),
            is_exactly(ExpectedStack{named(function), named("burn_by_rule")} + below_main()),
            kFewestOfMany);
    }
    for (const char* function : {"outermost", "unknown_expression", "without_cfi"}) {
        expect_exact(function, stacks, leaf_is(function), is_exactly({named(function)}),
                     kFewestOfMany);
    }
    expect_exact("called_by_cfa_in_r12", stacks, leaf_is("called_by_cfa_in_r12"),
                 is_exactly({named("called_by_cfa_in_r12"), named("cfa_in_r12")}), kFewestOfMany);

    expect_ended(run, "unknown_expression", abi::WALK_END_UNSUPPORTED_RULE);
    expect_ended(run, "without_cfi", abi::WALK_END_NO_CFI);
    expect_ended(run, "called_by_cfa_in_r12", abi::WALK_END_REGISTER_UNKNOWN);
}

INSTANTIATE_TEST_SUITE_P(Of, RareRules,
                         testing::Values("leaf_rules.gcc.pie", "leaf_rules.clang.pie"),
                         fixture_test_name);

class Vfork : public testing::TestWithParam<std::string> {};

// A process that exits has given up its memory some time before it is gone.
bool is_leaving(const Stack& stack) {
    return stack.user_frames().empty() &&
           std::any_of(stack.frames.begin(), stack.frames.end(),
                       [](const Frame& frame) { return is_function(frame, "do_exit"); });
}

bool is_in_start_children(const Stack& stack) {
    std::vector<Frame> frames = stack.user_frames();
    cut_leaf_frames_in(frames, "libc.so.6");
    return matches(frames, ExpectedStack{named("start_children")} + below_main());
}

// Of parent and children: in vfork, waitpid and _exit of libc, all of which start_children calls.
TEST_P(Vfork, IsFoundDownToStart) {
    const ProfileText profile = sample_fixture(GetParam());
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(GetParam()));
    const auto is_whole = [](const Stack& stack) {
        return is_leaving(stack) || is_in_start_children(stack);
    };
    expect_exact("exact", stacks, every_stack, is_whole);

    const ExpectedFrame vfork{{"vfork", "__vfork", "__libc_vfork", "__GI___vfork"}, "libc.so.6"};
    const auto leaf_is_vfork = [&](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return !frames.empty() &&
               std::any_of(vfork.names.begin(), vfork.names.end(), [&](const std::string& name) {
                   return is_function(frames.front(), name);
               });
    };
    expect_exact("in vfork", stacks, leaf_is_vfork,
                 is_exactly(ExpectedStack{vfork, named("start_children")} + below_main()),
                 kFewestOfMany);
}

INSTANTIATE_TEST_SUITE_P(Of, Vfork, testing::Values("vfork_often.gcc.pie", "vfork_often.clang.pie"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test
