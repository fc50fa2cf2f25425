// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_command.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/errors.h"
#include "support/temporary_directory.h"

namespace bobbin::cli {
namespace {

using test::file_content;
using test::TemporaryDirectory;
using Words = std::vector<std::string>;

LaunchedCommand prepared(const Words& words, std::optional<output::FileOwner> run_as = {}) {
    Result<LaunchedCommand> command = LaunchedCommand::prepare(words, run_as);
    EXPECT_TRUE(command) << command.error().message();
    return std::move(*command);
}

int wait_for(LaunchedCommand& command) {
    pollfd end{command.pidfd(), POLLIN, 0};
    while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
    const std::optional<int> status = command.try_wait();
    EXPECT_TRUE(status) << "the pidfd was readable";
    return status.value_or(-1);
}

int run(const Words& words, std::optional<output::FileOwner> run_as = {}) {
    LaunchedCommand command = prepared(words, run_as);
    const Result<> started = command.start();
    EXPECT_TRUE(started) << started.error().message();
    return wait_for(command);
}

TEST(LaunchedCommand, GivesTheExitStatus) {
    EXPECT_EQ(run({"true"}), 0);
    EXPECT_EQ(run({"sh", "-c", "exit 3"}), 3);
    EXPECT_EQ(run({"sh", "-c", "exit 255"}), 255);
}

TEST(LaunchedCommand, GivesAShellsStatusWhenASignalEndsIt) {
    EXPECT_EQ(run({"sh", "-c", "kill -KILL $$"}), 128 + SIGKILL);
    EXPECT_EQ(run({"sh", "-c", "kill -SEGV $$"}), 128 + SIGSEGV);
}

TEST(LaunchedCommand, KeepsTheStatusOnceItIsKnown) {
    LaunchedCommand command = prepared({"sh", "-c", "exit 9"});
    ASSERT_TRUE(command.start());
    EXPECT_EQ(wait_for(command), 9);
    EXPECT_EQ(command.try_wait(), 9);
    LaunchedCommand moved = std::move(command);
    EXPECT_EQ(moved.try_wait(), 9);
}

TEST(LaunchedCommand, WaitsAtTheGate) {
    const TemporaryDirectory directory;
    const auto trace = directory.path() / "it_ran";
    LaunchedCommand command = prepared({"touch", trace});
    EXPECT_EQ(::kill(command.pid(), 0), 0) << "the child exists and has its pid";
    EXPECT_EQ(command.try_wait(), std::nullopt);
    // What runs under that pid is still this test.
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(command.pid()) + "/exe"),
              std::filesystem::read_symlink("/proc/self/exe"));
    EXPECT_FALSE(std::filesystem::exists(trace));
    ASSERT_TRUE(command.start());
    EXPECT_EQ(wait_for(command), 0);
    EXPECT_TRUE(std::filesystem::exists(trace));
}

TEST(LaunchedCommand, NeverRunsWhenItIsGivenUpAtTheGate) {
    const TemporaryDirectory directory;
    const auto trace = directory.path() / "it_ran";
    pid_t pid = 0;
    {
        const LaunchedCommand command = prepared({"touch", trace});
        pid = command.pid();
    }
    EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1) << "nothing is left to wait for";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_FALSE(std::filesystem::exists(trace));
}

// The parent dies, as by SIGKILL, with the gate closed: its child must not outlive it. The pipe
// shows end of file only when nobody holds its other end any more.
TEST(LaunchedCommand, EndsWithAParentThatDiesBeforeTheGateOpens) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t parent = ::fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
        ::close(ends[0]);
        const Result<LaunchedCommand> command = LaunchedCommand::prepare({"true"}, {});
        ::kill(::getpid(), command ? SIGKILL : SIGTERM);
    }
    ::close(ends[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(parent, &status, 0), parent);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);
    ::close(ends[0]);
}

TEST(LaunchedCommand, SaysLikeEnvWhyItCannotStart) {
    const TemporaryDirectory directory;
    const auto script = directory.write("not_executable", "#!/bin/sh\n");
    // A directory of PATH that may not be searched turns "not found" into "not allowed".
    const std::string path_before = std::getenv("PATH");
    ASSERT_EQ(::setenv("PATH", "/usr/bin:/bin", 1), 0);
    const std::vector<std::pair<std::string, int>> cases{{"no-such-command-anywhere", 127},
                                                         {directory.path() / "missing", 127},
                                                         {"/dev/null", 126},
                                                         {directory.path(), 126},
                                                         {script, 126}};
    for (const auto& [program, expected] : cases) {
        LaunchedCommand command = prepared({program});
        const Result<> started = command.start();
        ASSERT_FALSE(started) << program;
        EXPECT_EQ(explain_command_failure(started.error(), program).exit_status, expected)
            << program << ": " << started.error().message();
    }
    ::setenv("PATH", path_before.c_str(), 1);
}

TEST(LaunchedCommand, RefusesAnEmptyCommand) { EXPECT_FALSE(LaunchedCommand::prepare({}, {})); }

TEST(LaunchedCommand, CanBeSignalled) {
    LaunchedCommand command = prepared({"sleep", "1000"});
    ASSERT_TRUE(command.start());
    EXPECT_EQ(command.try_wait(), std::nullopt);
    command.send_signal(SIGTERM);
    EXPECT_EQ(wait_for(command), 128 + SIGTERM);
    command.send_signal(SIGTERM);
}

TEST(LaunchedCommand, GetsArgumentsEnvironmentAndProcessGroup) {
    const TemporaryDirectory directory;
    const std::string file = directory.path() / "said";
    ASSERT_EQ(::setenv("BOBBIN_TEST_VALUE", "kept", 1), 0);
    EXPECT_EQ(run({"sh", "-c",
                   "printf '%s|' \"$@\" \"$BOBBIN_TEST_VALUE\" \"$(cut -d\" \" -f5 "
                   "/proc/$$/stat)\" > \"$0\"",
                   file, "a b", "", "--"}),
              0);
    ::unsetenv("BOBBIN_TEST_VALUE");
    const std::string said = file_content(file);
    EXPECT_EQ(said.rfind("a b||--|kept|", 0), 0U) << said;
    EXPECT_EQ(std::stoi(said.substr(std::string("a b||--|kept|").size())), ::getpgrp()) << said;
}

// The kernel's own account of the child; bit n-1 of a mask is signal n.
TEST(LaunchedCommand, StartsWithDefaultSignalsAndAnEmptyMask) {
    const TemporaryDirectory directory;
    const std::string file = directory.path() / "status";
    const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
    const auto int_before = ::signal(SIGINT, SIG_IGN);
    sigset_t blocked;
    sigset_t mask_before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGTERM);
    ::sigaddset(&blocked, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_before);
    EXPECT_EQ(run({"cp", "/proc/self/status", file}), 0);
    ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
    ::signal(SIGPIPE, pipe_before);
    ::signal(SIGINT, int_before);
    const std::string status = file_content(file);
    EXPECT_NE(status.find("SigBlk:\t0000000000000000\n"), std::string::npos) << status;
    EXPECT_NE(status.find("SigIgn:\t0000000000000000\n"), std::string::npos) << status;
}

TEST(LaunchedCommand, PassesOnNoDescriptorOfOurs) {
    const TemporaryDirectory directory;
    const std::string with_bobbin = directory.path() / "with";
    const std::string without = directory.path() / "without";
    const std::string list = "for fd in /proc/$$/fd/*; do echo ${fd##*/}; done > ";
    ASSERT_EQ(std::system((list + without).c_str()), 0);
    EXPECT_EQ(run({"sh", "-c", list + with_bobbin}), 0);
    EXPECT_EQ(file_content(with_bobbin), file_content(without));
}

bool is_root() { return ::geteuid() == 0; }

// As root: the ids of the user asked for. As anybody else nobody can be become, and nothing
// changes.
TEST(LaunchedCommand, RunsAsTheUserBehindSudo) {
    const TemporaryDirectory directory;
    std::filesystem::permissions(directory.path(), std::filesystem::perms(0777));
    const std::string file = directory.path() / "ids";
    const passwd* const nobody = ::getpwnam("nobody");
    ASSERT_NE(nobody, nullptr);
    const output::FileOwner owner = is_root() ? output::FileOwner{nobody->pw_uid, nobody->pw_gid}
                                              : output::FileOwner{::geteuid(), ::getegid()};
    const passwd* const expected = ::getpwuid(owner.uid);
    ASSERT_NE(expected, nullptr);
    const std::string home = is_root() ? expected->pw_dir : std::string(std::getenv("HOME"));
    EXPECT_EQ(run({"sh", "-c", "printf '%s %s %s' $(id -u) $(id -g) \"$HOME\" > " + file}, owner),
              0);
    EXPECT_EQ(file_content(file),
              std::to_string(owner.uid) + " " + std::to_string(owner.gid) + " " + home);
}

// `id` is the oracle: it reads the group file and the process by itself. Root only, because only
// root may set groups; others have theirs.
TEST(LaunchedCommand, TakesTheGroupsAndNameOfTheUser) {
    const TemporaryDirectory directory;
    std::filesystem::permissions(directory.path(), std::filesystem::perms(0777));
    const std::string file = directory.path() / "said";
    const std::string wanted = directory.path() / "wanted";
    const passwd* const user = is_root() ? ::getpwnam("nobody") : ::getpwuid(::geteuid());
    ASSERT_NE(user, nullptr);
    const output::FileOwner owner{user->pw_uid, user->pw_gid};
    const std::string name = user->pw_name;
    ASSERT_EQ(std::system(("id -G " + name + " > " + wanted).c_str()), 0);
    EXPECT_EQ(run({"sh", "-c", "id -G > " + file}, owner), 0);
    EXPECT_EQ(file_content(file), file_content(wanted));
    if (!is_root()) return;
    EXPECT_EQ(run({"sh", "-c", "printf '%s %s' \"$USER\" \"$LOGNAME\" > " + file}, owner), 0);
    EXPECT_EQ(file_content(file), name + " " + name);
    EXPECT_EQ(run({"sh", "-c", "grep ^CapEff /proc/self/status > " + file}, owner), 0);
    EXPECT_EQ(file_content(file), "CapEff:\t0000000000000000\n");
}

}  // namespace
}  // namespace bobbin::cli
