// SPDX-License-Identifier: Apache-2.0
// A signal handler runs on top of the function it interrupted, with a frame made by the kernel in
// between: fixtures/signals.c.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/known_stacks.h"
#include "kernel/sampled_fixture.h"
#include "support/fixture_test_name.h"

namespace bobbin::test {
namespace {

class SignalHandler : public testing::TestWithParam<std::string> {};

bool interrupted_a_tiny_function(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return frames.size() > 2 && is_tiny_function(frames[2]);
}

TEST_P(SignalHandler, StandsOnWhatItInterrupted) {
    const ProfileText profile = sample_fixture(GetParam(), "5");
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(GetParam()));

    expect_exact("raised", stacks, leaf_is("handle_raised"),
                 is_exactly(handler_on_signal_frame("handle_raised") +
                            ExpectedStack{{{"kill", "__kill", "__GI___kill"}, "libc.so.6"},
                                          named("raise_often")} +
                            below_main()));
    expect_exact(
        "fault", stacks, leaf_is("handle_fault"),
        is_exactly(handler_on_signal_frame("handle_fault") +
                   ExpectedStack{named("load_at_entry"), named("touch_bad_page")} + below_main()));
    expect_exact("timer", stacks, leaf_is("handle_timer"), is_timer_in_tiny_functions,
                 kFewestOfMany);
    expect_exact("bottom", stacks, every_stack, reaches_the_bottom);
    EXPECT_GE(judge(stacks, interrupted_a_tiny_function, every_stack).judged, kFewestOfMany);
}

INSTANTIATE_TEST_SUITE_P(Of, SignalHandler, testing::Values("signals.gcc.pie", "signals.clang.pie"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test
