// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "support/profile_readers.h"
#include "support/record_run.h"
#include "support/silent_server.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;

// Sees files that are renamed into a directory, from the moment of its construction.
class ArrivalOfFiles {
public:
    explicit ArrivalOfFiles(const fs::path& directory)
        : inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
        EXPECT_GE(::inotify_add_watch(inotify_.get(), directory.c_str(), IN_MOVED_TO | IN_CREATE),
                  0);
    }

    // False when nothing came in a generous time.
    bool wait() {
        pollfd waits{inotify_.get(), POLLIN, 0};
        if (::poll(&waits, 1, static_cast<int>(kGenerousTimeout.count()) * 1000) != 1) return false;
        std::array<char, 4096> events;
        return ::read(inotify_.get(), events.data(), events.size()) > 0;
    }

private:
    UniqueFd inotify_;
};

// Waits until `path` is there; whatever else arrives in its directory only prompts another look.
bool wait_for_file(ArrivalOfFiles& arrivals, const fs::path& path) {
    while (!fs::exists(path))
        if (!arrivals.wait()) return false;
    return true;
}

std::vector<std::string> endless_recording(const fs::path& output) {
    return {program_path(), "record", "-F", "499",
            "-o",           output,   "--", fixture_path("known_chain.gcc.pie")};
}

// From then on SIGINT does not kill the process: it waits to be read. False when that never comes.
bool wait_until_interrupt_is_blocked(pid_t pid) {
    const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
    while (std::chrono::steady_clock::now() < deadline) {
        std::ifstream status("/proc/" + std::to_string(pid) + "/status");
        for (std::string line; std::getline(status, line);) {
            if (!line.starts_with("SigBlk:")) continue;
            const std::uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
            if ((blocked & (1ULL << (SIGINT - 1))) != 0) return true;
        }
        std::this_thread::yield();
    }
    return false;
}

// The command says "running": the recording has begun before. It gets the signal too.
TEST(Interrupt, EndsTheRecordingAndWritesIt) {
    const TemporaryDirectory directory;
    const fs::path output = directory / "profile.pb.gz";
    ChildProcess bobbin(endless_recording(output));
    ASSERT_TRUE(bobbin.wait_for_output("running"));
    bobbin.send_signal(SIGINT);
    const FinishedProcess finished = bobbin.wait();
    EXPECT_EQ(finished.exit_status, 128 + SIGINT) << "the command's own status";
    ASSERT_TRUE(fs::exists(output)) << finished.standard_error;
    expect_every_tick_accounted_for(read_pprof(output));
}

TEST(Interrupt, EndsARecordingOfTheWholeMachine) {
    const TemporaryDirectory directory;
    const fs::path output = directory / "profile.pb.gz";
    ChildProcess bobbin({program_path(), "record", "-F", "499", "-o", output});
    ASSERT_TRUE(wait_until_interrupt_is_blocked(bobbin.pid()));
    bobbin.send_signal(SIGINT);
    EXPECT_EQ(bobbin.wait().exit_status, 0);
    ASSERT_TRUE(fs::exists(output));
    expect_every_tick_accounted_for(read_pprof(output));
}

TEST(Termination, WritesTheRecordingToo) {
    const TemporaryDirectory directory;
    const fs::path output = directory / "profile.pb.gz";
    ChildProcess bobbin(endless_recording(output));
    ASSERT_TRUE(bobbin.wait_for_output("running"));
    bobbin.send_signal(SIGTERM);
    EXPECT_EQ(bobbin.wait().exit_status, 128 + SIGTERM) << "the command's own status";
    ASSERT_TRUE(fs::exists(output));
    expect_every_tick_accounted_for(read_pprof(output));
}

TEST(UserSignalTwo, WritesASnapshotAndGoesOn) {
    const TemporaryDirectory directory;
    const fs::path output = directory / "profile.pb.gz";
    ArrivalOfFiles arrivals(directory.path());
    ChildProcess bobbin(endless_recording(output));
    ASSERT_TRUE(bobbin.wait_for_output("running"));
    bobbin.send_signal(SIGUSR2);
    ASSERT_TRUE(wait_for_file(arrivals, output));
    const ProfileText snapshot = read_pprof(output);  // takes a while: the recording goes on
    bobbin.send_signal(SIGINT);
    bobbin.wait();

    const ProfileText whole = read_pprof(output);
    expect_every_tick_accounted_for(whole);
    EXPECT_GT(whole.sample_count(), snapshot.sample_count());
}

// A second of a program whose names have to come from a server: when that is asked, the recording
// has ended and its names are waited for.
class WhileNamesAreWaitedFor : public testing::Test {
protected:
    WhileNamesAreWaitedFor()
        : bobbin_({program_path(), "record", "--debuginfod", "-F", "499", "-o", output(), "--",
                   fixture_path("known_chain.gcc.no_symbols"), "1"},
                  {{"DEBUGINFOD_URLS", server_.url()},
                   {"DEBUGINFOD_CACHE_PATH", directory_ / "cache"}}) {}
    [[nodiscard]] fs::path output() const { return directory_ / "profile.pb.gz"; }

    TemporaryDirectory directory_;
    SilentServer server_;
    ChildProcess bobbin_;
};

TEST_F(WhileNamesAreWaitedFor, AnInterruptWritesTheRecordingWithoutThem) {
    ASSERT_TRUE(server_.wait_until_asked());
    bobbin_.send_signal(SIGINT);
    const FinishedProcess finished = bobbin_.wait();
    EXPECT_EQ(finished.exit_status, 0) << finished.standard_error;
    ASSERT_TRUE(fs::exists(output()));
    const ProfileText profile = read_pprof(output());
    expect_every_tick_accounted_for(profile);
    for (const Stack& stack : profile.stacks) {
        // "libc.so.6+0x27304"
        ASSERT_TRUE(std::ranges::all_of(stack.user_frames(), [](const Frame& frame) {
            return frame.function.find("+0x") != std::string::npos;
        })) << describe(stack);
    }
}

// Both signals wait when it looks.
TEST_F(WhileNamesAreWaitedFor, TwoInterruptsEndItWithoutAFile) {
    ASSERT_TRUE(server_.wait_until_asked());
    bobbin_.send_signal(SIGSTOP);
    siginfo_t stopped{};
    const auto pid = static_cast<id_t>(bobbin_.pid());
    ASSERT_EQ(::waitid(P_PID, pid, &stopped, WSTOPPED | WNOWAIT), 0);
    bobbin_.send_signal(SIGINT);
    bobbin_.send_signal(SIGTERM);
    bobbin_.send_signal(SIGCONT);
    EXPECT_EQ(bobbin_.wait().exit_status, 130);
    fs::remove_all(directory_ / "cache");
    EXPECT_TRUE(fs::is_empty(directory_.path()));
}

}  // namespace
}  // namespace bobbin::test
