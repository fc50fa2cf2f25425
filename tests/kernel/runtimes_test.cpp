// SPDX-License-Identifier: Apache-2.0
// Stacks that a language's runtime made or is taking down: coroutines, exceptions in flight, Rust.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/known_stacks.h"
#include "kernel/sampled_fixture.h"
#include "support/fixture_test_name.h"

namespace bobbin::test {
namespace {

class Coroutine : public testing::TestWithParam<std::string> {};

// libc marks the return address of __start_context as undefined: there the stack ends.
TEST_P(Coroutine, IsFoundDownToItsEntry) {
    const ProfileText profile = sample_fixture(GetParam(), "2");
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(GetParam()));
    expect_exact("exact", stacks, leaf_is("burn_in_coroutine"),
                 is_exactly({named("burn_in_coroutine"),
                             named("coroutine_entry"),
                             {{"__start_context"}, "libc.so.6"}}));
    const auto is_whole = [](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return reaches_the_bottom(stack) ||
               (!frames.empty() && matches(frames.back(), {{"__start_context"}, "libc.so.6"}));
    };
    expect_exact("bottom", stacks, every_stack, is_whole);
}

INSTANTIATE_TEST_SUITE_P(Of, Coroutine,
                         testing::Values("coroutines.gcc.pie", "coroutines.clang.pie"),
                         fixture_test_name);

class ExceptionInFlight : public testing::TestWithParam<std::string> {};

TEST_P(ExceptionInFlight, IsFoundDownToStart) {
    const ProfileText profile = sample_fixture(GetParam());
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(GetParam()));
    const auto is_throwing = [](const Stack& stack) { return contains(stack, "__cxa_throw"); };
    expect_exact("exact", stacks, every_stack, is_above_catch_thrown);
    expect_exact("throwing", stacks, is_throwing, is_above_catch_thrown, kFewestOfMany);
}

INSTANTIATE_TEST_SUITE_P(Of, ExceptionInFlight,
                         testing::Values("exceptions.gcc.pie", "exceptions.gcc.static",
                                         "exceptions.clang.pie", "exceptions.clang.static"),
                         fixture_test_name);

TEST(RustProgram, IsFoundDownToStartAlsoWhileAPanicIsInFlight) {
    const std::string fixture = "known_chain_rust";
    const ProfileText profile = sample_fixture(fixture);
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(fixture));
    expect_exact("exact", stacks, every_stack, is_rust_chain);
    const auto leaf_is_in_libgcc = leaf_is_in({"libgcc_s.so.1"});
    EXPECT_GT(judge(stacks, leaf_is_in_libgcc, every_stack).judged, 0U);
}

}  // namespace
}  // namespace bobbin::test
