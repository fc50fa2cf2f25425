// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/unique_fd.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

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

// The command says "running" and works some: the recording has begun long before.
TEST(Interrupt, EndsTheRecordingAndWritesIt) {
    const TemporaryDirectory directory;
    const fs::path output = directory / "profile.pb.gz";
    ChildProcess bobbin(endless_recording(output));
    ASSERT_TRUE(bobbin.wait_for_output("running"));
    bobbin.send_signal(SIGINT);
    const FinishedProcess finished = bobbin.wait();
    EXPECT_FALSE(finished.timed_out);
    ASSERT_TRUE(fs::exists(output)) << finished.standard_error;
    expect_every_tick_accounted_for(read_pprof(output));
}

TEST(Interrupt, EndsARecordingOfTheWholeMachine) {
    const TemporaryDirectory directory;
    const fs::path output = directory / "profile.pb.gz";
    ArrivalOfFiles arrivals(directory.path());
    ChildProcess bobbin({program_path(), "record", "-F", "499", "-o", output});
    ASSERT_TRUE(bobbin.wait_for_error("recording"));
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
    bobbin.wait();
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

}  // namespace
}  // namespace bobbin::test
