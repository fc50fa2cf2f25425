// SPDX-License-Identifier: Apache-2.0
// What a loss of power may take: by the order of a writer's system calls.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "store/store.h"
#include "support/temporary_directory.h"
#include "unit/store/minute_profile.h"

namespace bobbin::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using test::kMorning;

void mark() { ::syscall(SYS_getppid); }

// Appends a minute between two marks, and one before them, for which the directory of the day and
// the index are made.
[[noreturn]] void write_two(const std::string& path) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    auto store = Store::open(path, {.retention = hours{24}, .max_bytes = 1'000'000'000});
    if (!store || !store->append(test::MinuteProfile(kMorning).profile)) ::_exit(1);
    const auto second = test::MinuteProfile(kMorning + minutes{1}).profile;
    mark();
    if (!store->append(second)) ::_exit(2);
    mark();
    ::_exit(0);
}

// What it is called here; empty: it is of no account.
std::string name_of(std::uint64_t call) {
    switch (call) {
        case SYS_write:
            return "write ";
        case SYS_fsync:
        case SYS_fdatasync:
            return "sync ";
        case SYS_renameat:
        case SYS_renameat2:
            return "rename ";
        case SYS_pwrite64:
            return "index ";
        default:
            return {};
    }
}

// The calls between the marks, one after the other.
std::string calls_of(pid_t child) {
    std::string calls;
    int marks = 0;
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    // Else stops do not say which end of a call they are.
    ::ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD);
    while (WIFSTOPPED(status)) {
        __ptrace_syscall_info call{};
        ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(call), &call);
        if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
            if (call.entry.nr == SYS_getppid) ++marks;
            if (marks == 1) calls += name_of(call.entry.nr);
        }
        ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
        EXPECT_EQ(::waitpid(child, &status, 0), child);
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(marks, 2);
    return calls;
}

// The file before it has its name, its name before append() returns and before the index has it.
TEST(StoreOfALostWriter, SyncsTheFileAndItsNameBeforeTheIndexHasIt) {
    const bobbin::test::TemporaryDirectory directory;
    const std::string path = directory / "store";
    const pid_t child = ::fork();
    if (child == 0) write_two(path);
    const std::string calls = calls_of(child);
    EXPECT_TRUE(calls.starts_with("write sync rename sync index ")) << calls;
}

}  // namespace
}  // namespace bobbin::store
