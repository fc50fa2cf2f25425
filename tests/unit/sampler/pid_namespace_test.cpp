// SPDX-License-Identifier: Apache-2.0
#include "sampler/pid_namespace.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace bobbin::sampler {
namespace {

// proc_pid_status(5): NSpid has the number in the namespace of /proc first, then those below it,
// down to the process's own.
TEST(LevelsBelowProc, AreTheNumbersBehindTheFirst) {
    EXPECT_EQ(levels_below_proc("Name:\tx\nNStgid:\t7\nNSpid:\t7\nNSpgid:\t7\n"), 0U);
    EXPECT_EQ(levels_below_proc("Name:\tx\nNSpid:\t4242\t17\nNSpgid:\t1\t2\t3\t4\n"), 1U);
    EXPECT_EQ(levels_below_proc("Name:\tx\nNSpid:\t4242\t17\t1"), 2U);
}

TEST(LevelsBelowProc, AreNoneWhereTheKernelDoesNotSay) {
    EXPECT_EQ(levels_below_proc("Name:\tx\nPid:\t7\n"), 0U);
    EXPECT_EQ(levels_below_proc(""), 0U);
}

// A thread may call itself what it likes, but the kernel escapes its newlines.
TEST(LevelsBelowProc, AreNotReadFromAName) {
    EXPECT_EQ(levels_below_proc("Name:\tNSpid:\t1\t2\t3\nNSpid:\t7\n"), 0U);
}

TEST(NumberInProc, IsThatOfTheProcessBehindTheDescriptor) {
    const UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    ASSERT_TRUE(self.is_open());
    EXPECT_EQ(number_in_proc(self.get()), ::getpid());
    EXPECT_EQ(number_in_proc(STDERR_FILENO), std::nullopt) << "no pidfd";
}

}  // namespace
}  // namespace bobbin::sampler
