// SPDX-License-Identifier: Apache-2.0
#include "symbolize/give_up_rights.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "base/unique_fd.h"

namespace bobbin::symbolize {
namespace {

constexpr std::uint64_t kMemoryBytes = 64ULL << 20;
constexpr int kRightsNotGivenUp = 100;

// What `act` gives in a process that has given up its rights.
template <class Act>
int without_rights(Act act) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(give_up_rights(kMemoryBytes) ? act() : kRightsNotGivenUp);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The raw call: no library in between.
template <class... Arguments>
int errno_of_call(long number, Arguments... arguments) {
    return ::syscall(number, arguments...) < 0 ? errno : 0;
}

TEST(GiveUpRights, LeavesTheRightToReadWhatIsOpen) {
    const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(without_rights([&] {
                  char letters[4]{};
                  const bool is_read = ::pread(file.get(), letters, sizeof(letters), 0) == 4;
                  return is_read && letters[1] == 'E' ? 0 : 1;
              }),
              0);
}

TEST(GiveUpRights, LeavesNoRightToOpenWriteStartOrReachAnything) {
    EXPECT_EQ(without_rights([] { return errno_of_call(SYS_openat, AT_FDCWD, "/etc/passwd", 0); }),
              EPERM);
#ifndef __SANITIZE_ADDRESS__
    EXPECT_EQ(without_rights([] { return errno_of_call(SYS_write, STDERR_FILENO, "x", 1); }),
              EPERM);
#endif
    EXPECT_EQ(without_rights([] { return errno_of_call(SYS_socket, AF_INET, SOCK_STREAM, 0); }),
              EPERM);
    EXPECT_EQ(without_rights([] { return errno_of_call(SYS_kill, ::getppid(), 0); }), EPERM);
    EXPECT_EQ(without_rights([] {
                  return errno_of_call(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
              }),
              EPERM);
    EXPECT_EQ(without_rights([] { return errno_of_call(SYS_execve, "/bin/true", 0, 0); }), EPERM);
    EXPECT_EQ(without_rights([] { return errno_of_call(SYS_ptrace, 0, 0, 0, 0); }), EPERM);
}

TEST(GiveUpRights, LeavesMemoryThatHoldsDataOnly) {
    const auto map = [](int protection) {
        return ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
                   ? errno
                   : 0;
    };
    EXPECT_EQ(without_rights([&] { return map(PROT_READ | PROT_WRITE); }), 0);
    EXPECT_EQ(without_rights([&] { return map(PROT_READ | PROT_EXEC); }), EPERM);
}

TEST(GiveUpRights, BoundsMemory) {
    const auto map = [](std::size_t bytes) {
        return ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
                   ? errno
                   : 0;
    };
    EXPECT_EQ(without_rights([&] { return map(kMemoryBytes / 2); }), 0);
    EXPECT_EQ(without_rights([&] { return map(kMemoryBytes + 1); }), ENOMEM);
}

}  // namespace
}  // namespace bobbin::symbolize
