// SPDX-License-Identifier: Apache-2.0
// Samples taken while the kernel worked for a thread: its whole user stack stands below, whatever
// kind of thread it is. fixtures/kernel_work_threads.c has one of each.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/sampled_fixture.h"
#include "support/fixture_test_name.h"

namespace bobbin::test {
namespace {

class WorkInKernelOfThreads : public testing::TestWithParam<std::string> {};

bool has_kernel_frames(const Stack& stack) { return stack.has_kernel_frames(); }

bool is_of_io_worker(const Stack& stack) { return stack.label("thread").starts_with("iou-wrk"); }

StackRule in_kernel_below(const std::string& function) {
    return
        [=](const Stack& stack) { return stack.has_kernel_frames() && contains(stack, function); };
}

TEST_P(WorkInKernelOfThreads, StandsOnTheWholeUserStack) {
    const ProfileText profile = sample_fixture(GetParam(), "5");
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(GetParam()));
    const ExpectedFrame pread{{"pread", "pread64", "__pread64", "__libc_pread", "__libc_pread64"},
                              "libc.so.6"};
    const ExpectedFrame getppid{{"getppid", "__getppid"}, "libc.so.6"};
    const auto expect_below = [&](const std::string& function, const ExpectedStack& whole) {
        expect_exact(function, stacks, in_kernel_below(function), is_exactly(whole), kFewestOfMany);
    };
    expect_below("read_in_main", ExpectedStack{pread, named("read_in_main")} + below_main());
    expect_below("read_in_vfork_child",
                 ExpectedStack{pread, named("read_in_vfork_child"), named("run_vfork_child")} +
                     below_main());
    expect_below("read_in_thread",
                 ExpectedStack{pread, named("read_in_thread"), named("run_reads")} +
                     below_thread_function());
    expect_below("short_calls",
                 ExpectedStack{getppid, named("short_calls"), named("run_short_calls")} +
                     below_thread_function());

    // A stack that is broken has none of these functions; it fails here.
    const auto is_of_user_thread = [](const Stack& stack) {
        return has_kernel_frames(stack) && !is_of_io_worker(stack);
    };
    expect_exact("bottom", stacks, is_of_user_thread, reaches_the_bottom);
}

TEST_P(WorkInKernelOfThreads, HasNoUserStackInAWorkerOfTheKernel) {
    const RecordedRun run = record_fixture(GetParam(), "2");
    const std::vector<Stack> stacks = run.profile.stacks_of(comm_of(GetParam()));
    const auto is_kernel_only = [](const Stack& stack) {
        return has_kernel_frames(stack) && stack.user_frames().empty();
    };
    expect_exact("io worker", stacks, is_of_io_worker, is_kernel_only, kFewestOfMany);
    for (const abi::walk_end end :
         {abi::WALK_END_NO_MAPPING, abi::WALK_END_STACK_UNREADABLE, abi::WALK_END_IMPOSSIBLE_FRAME})
        EXPECT_LE(share_ended(run, end), 0.01) << run.process.standard_error;
}

INSTANTIATE_TEST_SUITE_P(Of, WorkInKernelOfThreads,
                         testing::Values("kernel_work_threads.gcc.pie",
                                         "kernel_work_threads.clang.pie"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test
