// SPDX-License-Identifier: Apache-2.0
// Programs without frame pointers whose call chain is known: what comes back must be that chain,
// down to `_start` or the beginning of the thread. Two shares are judged, each over ALL samples it
// names, so that a broken stack cannot leave the reckoning:
//   exact   of the samples whose innermost user frame lies in the program's own code (its library's
//           and the vdso's, where it is about these), whatever name that frame has got
//   bottom  of all samples of the process, start-up and exit in them
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernel/sampled_fixture.h"
#include "support/expected_stacks.h"
#include "support/fixture_test_name.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

class KnownChain : public testing::TestWithParam<std::string> {};

TEST_P(KnownChain, IsFoundDownToStart) {
    const ProfileText profile = sample_fixture(GetParam());
    expect_whole_stacks(profile, GetParam(), leaf_is_in({GetParam()}),
                        is_the_chain_above(below_main()));
}

INSTANTIATE_TEST_SUITE_P(Of, KnownChain,
                         testing::Values("known_chain.gcc.pie", "known_chain.gcc.no_pie",
                                         "known_chain.gcc.static", "known_chain.gcc.static_pie",
                                         "known_chain.clang.pie", "known_chain.clang.no_pie",
                                         "known_chain.clang.static", "known_chain.clang.static_pie",
                                         "realigned_chain.gcc.pie", "realigned_chain.clang.pie"),
                         fixture_test_name);

class KnownChainInThreads : public testing::TestWithParam<std::string> {};

TEST_P(KnownChainInThreads, IsFoundDownToClone) {
    const ProfileText profile = sample_fixture(GetParam());
    const ExpectedStack outer = ExpectedStack{named("run_chain")} + below_thread_function();
    expect_whole_stacks(profile, GetParam(), leaf_is_in({GetParam()}), is_the_chain_above(outer));
}

INSTANTIATE_TEST_SUITE_P(Of, KnownChainInThreads,
                         testing::Values("known_chain_threads.gcc.pie",
                                         "known_chain_threads.gcc.static",
                                         "known_chain_threads.clang.pie",
                                         "known_chain_threads.clang.static"),
                         fixture_test_name);

// main, call_through_plt, library_call_back, called_back, and there the leaf: burn_in_callback,
// library_add, or the PLT stub that leads to it.
class CallThroughPlt : public testing::TestWithParam<std::string> {
protected:
    static bool is_in_stub(const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return !frames.empty() && matches(frames.front(), {{"library_add@plt"}, GetParam()});
    }
    static bool is_exact(const Stack& stack) {
        std::vector<Frame> frames = stack.user_frames();
        const ExpectedFrame below_called_back{
            {"burn_in_callback", "library_add", "library_add@plt"}, GetParam()};
        if (matches(frames.front(), below_called_back)) frames.erase(frames.begin());
        return matches(frames, ExpectedStack{named("called_back"), named("library_call_back"),
                                             named("call_through_plt")} +
                                   below_main());
    }
    static std::string library() {
        const bool is_clang = GetParam().find("clang") != std::string::npos;
        return is_clang ? "plt_library.clang.so" : "plt_library.gcc.so";
    }
};

TEST_P(CallThroughPlt, IsFoundOnBothSidesOfTheLibrary) {
    const ProfileText profile = sample_fixture(GetParam());
    expect_whole_stacks(profile, GetParam(), leaf_is_in({GetParam(), library()}), is_exact);
}

// Two instructions of every call are in the stub, where the stack depth depends on the pc.
TEST_P(CallThroughPlt, IsFoundFromInsideTheStub) {
    const ProfileText profile = sample_fixture(GetParam());
    expect_exact("in the stub", profile.stacks_of(comm_of(GetParam())), is_in_stub, is_exact, 1);
}

INSTANTIATE_TEST_SUITE_P(Of, CallThroughPlt,
                         testing::Values("plt_caller.gcc.pie", "plt_caller.gcc.ibt",
                                         "plt_caller.clang.pie", "plt_caller.clang.ibt"),
                         fixture_test_name);

class ClockInVdso : public testing::TestWithParam<std::string> {};

TEST_P(ClockInVdso, IsFoundDownToStart) {
    const ProfileText profile = sample_fixture(GetParam());
    const auto is_exact = [](const Stack& stack) {
        std::vector<Frame> frames = stack.user_frames();
        cut_leaf_frames_in(frames, "[vdso]");
        return cut_leaf_frames_in(frames, "libc.so.6") &&
               matches(frames, ExpectedStack{named("read_clock_often")} + below_main());
    };
    expect_whole_stacks(profile, GetParam(), leaf_is_in({"[vdso]"}), is_exact);
}

INSTANTIATE_TEST_SUITE_P(Of, ClockInVdso,
                         testing::Values("vdso_clock.gcc.pie", "vdso_clock.clang.pie"),
                         fixture_test_name);

class DeepStack : public testing::TestWithParam<std::string> {};

void expect_six_hundred_frames(const ProfileText& profile, const std::string& fixture) {
    const ExpectedStack whole = ExpectedStack(600, named("descend")) + below_main();
    expect_whole_stacks(profile, fixture, leaf_is_in({fixture}), is_exactly(whole));
}

TEST_P(DeepStack, IsFoundWithAllItsSixHundredFrames) {
    expect_six_hundred_frames(sample_fixture(GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Of, DeepStack,
                         testing::Values("deep_stack.gcc.pie", "deep_stack.clang.pie",
                                         "deep_stack.gcc.frame_pointers"),
                         fixture_test_name);

// Kernels before 5.17 have no bpf_loop; the walk is then a chain of tail calls, which any kernel
// runs.
class WithoutBpfLoop : public testing::Test {
protected:
    WithoutBpfLoop() { ::setenv("BOBBIN_TICK_PROGRAM", "on_tick_tail_calls", 1); }
    ~WithoutBpfLoop() override { ::unsetenv("BOBBIN_TICK_PROGRAM"); }
};

TEST_F(WithoutBpfLoop, TheKnownChainIsFoundDownToStart) {
    const std::string fixture = "known_chain.gcc.pie";
    expect_whole_stacks(sample_fixture(fixture), fixture, leaf_is_in({fixture}),
                        is_the_chain_above(below_main()));
}

TEST_F(WithoutBpfLoop, SixHundredFramesAreFound) {
    const std::string fixture = "deep_stack.gcc.pie";
    expect_six_hundred_frames(sample_fixture(fixture), fixture);
}

class WorkInKernel : public testing::TestWithParam<std::string> {};

TEST_P(WorkInKernel, StandsOnTheWholeUserStack) {
    const ProfileText profile = sample_fixture(GetParam());
    const ExpectedFrame pread{{"pread", "pread64", "__pread64", "__libc_pread", "__libc_pread64"},
                              "libc.so.6"};
    const ExpectedStack whole = ExpectedStack{pread, named("read_zeros")} + below_main();
    const auto has_kernel_frames = [](const Stack& stack) { return stack.has_kernel_frames(); };
    expect_whole_stacks(profile, GetParam(), has_kernel_frames, is_exactly(whole));

    const auto is_in_pread = [](const Stack& stack) {
        return std::any_of(stack.frames.begin(), stack.frames.end(), [](const Frame& frame) {
            return frame.is_kernel && frame.function.find("sys_pread64") != std::string::npos;
        });
    };
    EXPECT_GE(judge(profile.stacks, has_kernel_frames, is_in_pread).right, kFewestSamples);
}

INSTANTIATE_TEST_SUITE_P(Of, WorkInKernel,
                         testing::Values("kernel_work.gcc.pie", "kernel_work.clang.pie"),
                         fixture_test_name);

// Names are gone, frames are not: 25 links, main and _start, with libc's two in between.
TEST(ProgramWithoutSymbols, KeepsEveryFrame) {
    const std::string fixture = "known_chain.gcc.no_symbols";
    const ProfileText profile = sample_fixture(fixture);
    ExpectedStack whole = ExpectedStack(25, unnamed_in(fixture)) + below_main();
    whole[25] = unnamed_in(fixture);
    whole.back() = unnamed_in(fixture);

    expect_exact("exact", profile.stacks_of(comm_of(fixture)), leaf_is_in({fixture}),
                 is_exactly(whole));
}

}  // namespace
}  // namespace bobbin::test
