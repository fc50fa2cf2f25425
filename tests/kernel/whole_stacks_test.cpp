// SPDX-License-Identifier: Apache-2.0
// Programs without frame pointers whose call chain is known: what comes back must be that chain,
// down to `_start` or the beginning of the thread. Two shares are judged, each over ALL samples it
// names, so that a broken stack cannot leave the reckoning:
//   exact   of the samples whose innermost user frame is a function of the chain
//   bottom  of all samples of the process, start-up and exit in them
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "support/expected_stacks.h"
#include "support/fixture_test_name.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

constexpr double kRequiredShare = 0.99;
constexpr std::uint64_t kFewestSamples =
    300;  // so that one bad sample is less than the 1 % allowed

// 3 s of CPU time at 499 Hz: about 1,500 samples.
ProfileText sample_fixture(const std::string& fixture) {
    const TemporaryDirectory directory;
    return record(directory, {"-F", "499"}, {fixture_path(fixture), "3"}).profile;
}

using StackRule = std::function<bool(const Stack&)>;

void expect_whole_stacks(const ProfileText& profile, const std::string& fixture,
                         const StackRule& applies, const StackRule& is_exact) {
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(fixture));
    const Verdict exact = judge(stacks, applies, is_exact);
    EXPECT_GE(exact.judged, kFewestSamples);
    EXPECT_GE(exact.share_right(), kRequiredShare) << exact.examples();

    const auto all = [](const Stack&) { return true; };
    const Verdict bottom = judge(stacks, all, reaches_the_bottom);
    EXPECT_GE(bottom.share_right(), kRequiredShare) << bottom.examples();
}

// 0 when there is no user frame.
int innermost_link(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return frames.empty() ? 0 : chain_link_of(frames.front());
}

bool is_in_the_chain(const Stack& stack) { return innermost_link(stack) != 0; }

StackRule is_the_chain_above(const ExpectedStack& outer) {
    return [outer](const Stack& stack) {
        return matches(stack.user_frames(), chain_from(innermost_link(stack)) + outer);
    };
}

// Cuts off the frames at the beginning that belong to `module`; false if there are none.
bool cut_leaf_frames_in(std::vector<Frame>& frames, const std::string& module) {
    const auto first_other = std::find_if(frames.begin(), frames.end(),
                                          [&](const Frame& f) { return f.module != module; });
    const bool found = first_other != frames.begin();
    frames.erase(frames.begin(), first_other);
    return found;
}

class KnownChain : public testing::TestWithParam<std::string> {};

TEST_P(KnownChain, IsFoundDownToStart) {
    const ProfileText profile = sample_fixture(GetParam());
    expect_whole_stacks(profile, GetParam(), is_in_the_chain, is_the_chain_above(below_main()));
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
    expect_whole_stacks(profile, GetParam(), is_in_the_chain, is_the_chain_above(outer));
}

INSTANTIATE_TEST_SUITE_P(Of, KnownChainInThreads,
                         testing::Values("known_chain_threads.gcc.pie",
                                         "known_chain_threads.gcc.static",
                                         "known_chain_threads.clang.pie",
                                         "known_chain_threads.clang.static"),
                         fixture_test_name);

// main, call_through_plt, library_call_back, called_back, then what `innermost` says.
class CallThroughPlt : public testing::TestWithParam<std::string> {
protected:
    static ExpectedStack below_called_back() {
        return ExpectedStack{named("library_call_back"), named("call_through_plt")} + below_main();
    }
    static bool is_in_plt_stub(const Frame& frame, const std::string& fixture) {
        return matches(frame, {{"library_add@plt"}, fixture});
    }
};

TEST_P(CallThroughPlt, IsFoundOnBothSidesOfTheLibrary) {
    const std::string fixture = GetParam();
    const ProfileText profile = sample_fixture(fixture);
    const auto applies = [&](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return !frames.empty() &&
               (is_in_plt_stub(frames.front(), fixture) ||
                matches(frames.front(), {{"library_add", "burn_in_callback", "called_back"}, ""}));
    };
    const auto is_exact = [&](const Stack& stack) {
        std::vector<Frame> frames = stack.user_frames();
        if (!is_function(frames.front(), "called_back")) frames.erase(frames.begin());
        return matches(frames, ExpectedStack{named("called_back")} + below_called_back());
    };
    expect_whole_stacks(profile, fixture, applies, is_exact);
}

// Two instructions of every call are in the stub, where the stack depth depends on the pc.
TEST_P(CallThroughPlt, IsFoundFromInsideTheStub) {
    const std::string fixture = GetParam();
    const ProfileText profile = sample_fixture(fixture);
    const Verdict in_stub = judge(
        profile.stacks_of(comm_of(fixture)),
        [&](const Stack& stack) {
            const std::vector<Frame> frames = stack.user_frames();
            return !frames.empty() && is_in_plt_stub(frames.front(), fixture);
        },
        [&](const Stack& stack) {
            std::vector<Frame> frames = stack.user_frames();
            frames.erase(frames.begin());
            return matches(frames, ExpectedStack{named("called_back")} + below_called_back());
        });
    EXPECT_GT(in_stub.judged, 0U);
    EXPECT_GE(in_stub.share_right(), kRequiredShare) << in_stub.examples();
}

INSTANTIATE_TEST_SUITE_P(Of, CallThroughPlt,
                         testing::Values("plt_caller.gcc.pie", "plt_caller.gcc.ibt",
                                         "plt_caller.clang.pie", "plt_caller.clang.ibt"),
                         fixture_test_name);

class ClockInVdso : public testing::TestWithParam<std::string> {};

TEST_P(ClockInVdso, IsFoundDownToStart) {
    const ProfileText profile = sample_fixture(GetParam());
    const auto applies = [](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return !frames.empty() && frames.front().module == "[vdso]";
    };
    const auto is_exact = [](const Stack& stack) {
        std::vector<Frame> frames = stack.user_frames();
        cut_leaf_frames_in(frames, "[vdso]");
        return cut_leaf_frames_in(frames, "libc.so.6") &&
               matches(frames, ExpectedStack{named("read_clock_often")} + below_main());
    };
    expect_whole_stacks(profile, GetParam(), applies, is_exact);
}

INSTANTIATE_TEST_SUITE_P(Of, ClockInVdso,
                         testing::Values("vdso_clock.gcc.pie", "vdso_clock.clang.pie"),
                         fixture_test_name);

class DeepStack : public testing::TestWithParam<std::string> {};

TEST_P(DeepStack, IsFoundWithAllItsSixHundredFrames) {
    const ProfileText profile = sample_fixture(GetParam());
    const ExpectedStack whole = ExpectedStack(600, named("descend")) + below_main();
    const auto applies = [](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return !frames.empty() && is_function(frames.front(), "descend");
    };
    const auto is_exact = [&](const Stack& stack) { return matches(stack.user_frames(), whole); };
    expect_whole_stacks(profile, GetParam(), applies, is_exact);
}

INSTANTIATE_TEST_SUITE_P(Of, DeepStack,
                         testing::Values("deep_stack.gcc.pie", "deep_stack.clang.pie",
                                         "deep_stack.gcc.frame_pointers"),
                         fixture_test_name);

class WorkInKernel : public testing::TestWithParam<std::string> {};

TEST_P(WorkInKernel, StandsOnTheWholeUserStack) {
    const ProfileText profile = sample_fixture(GetParam());
    const ExpectedFrame pread{{"pread", "pread64", "__pread64", "__libc_pread", "__libc_pread64"},
                              "libc.so.6"};
    const ExpectedStack whole = ExpectedStack{pread, named("read_zeros")} + below_main();
    const auto has_kernel_frames = [](const Stack& stack) { return stack.has_kernel_frames(); };
    const auto is_exact = [&](const Stack& stack) { return matches(stack.user_frames(), whole); };
    expect_whole_stacks(profile, GetParam(), has_kernel_frames, is_exact);

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

    const Verdict verdict = judge(
        profile.stacks_of(comm_of(fixture)),
        [&](const Stack& stack) {
            const std::vector<Frame> frames = stack.user_frames();
            return !frames.empty() && frames.front().module == fixture;
        },
        [&](const Stack& stack) { return matches(stack.user_frames(), whole); });
    EXPECT_GE(verdict.judged, kFewestSamples);
    EXPECT_GE(verdict.share_right(), kRequiredShare) << verdict.examples();
}

}  // namespace
}  // namespace bobbin::test
