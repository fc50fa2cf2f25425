// SPDX-License-Identifier: Apache-2.0
// A writer that is killed between two of its system calls, wherever that is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "store/store.h"
#include "support/temporary_directory.h"
#include "unit/store/minute_profile.h"
#include "unit/store/store_oracles.h"

namespace bobbin::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using test::kMorning;

constexpr int kMinutesARun = 4;
// So many segments are kept, so that each run also lets old ones go.
constexpr int kKept = 10;
constexpr Limits kLimits{.retention = minutes{kKept}, .max_bytes = 1'000'000'000};
const Range kAllTime{Time{}, kMorning + hours{24 * 365}};

// Minute `i` has i + 1 samples.
symbolize::NamedProfile minute(int i) {
    test::MinuteProfile profile(kMorning + minutes{i});
    profile.add({"work"}, test::labels_of(7, "app"), {{0, static_cast<std::uint32_t>(i) + 1}});
    return profile.profile;
}

// Appends minutes from `first` on and tells of each that is kept: a byte.
[[noreturn]] void write_minutes(const std::string& path, int first, int told) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    auto store = Store::open(path, kLimits);
    if (!store) ::_exit(1);
    for (int i = first; i < first + kMinutesARun; ++i) {
        if (!store->append(minute(i)) || ::write(told, "k", 1) != 1) ::_exit(2);
    }
    ::_exit(0);
}

struct KilledRun {
    int kept = 0;        // appends that returned
    int stops = 0;       // begins and ends of system calls that it went through
    bool ended = false;  // by itself
};

// Kills at the `stop`th begin or end of a system call.
KilledRun run_and_kill(const std::string& path, int first, int stop) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    UniqueFd told(ends[0]);
    UniqueFd tells(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) write_minutes(path, first, tells.get());
    tells.reset();
    KilledRun run;
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    while (WIFSTOPPED(status)) {
        if (run.stops++ == stop) ::kill(child, SIGKILL);
        ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
        EXPECT_EQ(::waitpid(child, &status, 0), child);
    }
    run.ended = WIFEXITED(status);
    if (run.ended) {
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    char byte = 0;
    while (::read(told.get(), &byte, 1) == 1) ++run.kept;
    return run;
}

// Every segment is whole and of its minute; gives the minute behind the last.
int expect_whole(const StoreReader& reader) {
    const auto segments = reader.find(kAllTime);
    EXPECT_TRUE(segments.has_value()) << segments.error().message();
    int next = 0;
    for (const Segment& segment : segments.value_or(std::vector<Segment>{})) {
        const auto i = static_cast<int>((segment.begin - kMorning) / minutes{1});
        EXPECT_TRUE(next == 0 || i == next) << "segments before minute " << i << " are missing";
        next = i + 1;
        const auto profile = reader.read({segment.begin, segment.begin + minutes{1}}, Where{});
        EXPECT_TRUE(profile.has_value()) << profile.error().message();
        if (!profile) continue;
        EXPECT_EQ(profile->sample_count, static_cast<std::uint64_t>(next));
        EXPECT_THAT(profile->comments, testing::IsEmpty());
    }
    return next;
}

TEST(StoreOfAKilledWriter, LosesNothingThatWasKept) {
    constexpr int kKills = 50;
    const bobbin::test::TemporaryDirectory directory;
    const std::string path = directory / "store";
    const KilledRun whole = run_and_kill(path, 0, INT32_MAX);
    ASSERT_TRUE(whole.ended);
    ASSERT_EQ(whole.kept, kMinutesARun);
    ASSERT_GT(whole.stops, kKills);

    int next = kMinutesARun;
    int killed = 0;
    for (int kill = 0; kill < kKills; ++kill) {
        // Spread over a whole run, both ends of calls in turn.
        const int stop = 1 + kill * (whole.stops - 1) / kKills;
        const KilledRun run = run_and_kill(path, next, stop);
        if (!run.ended) ++killed;
        SCOPED_TRACE("killed at stop " + std::to_string(stop) + " of " +
                     std::to_string(whole.stops));
        // Readers see what is there at once, before another writer has come.
        const auto reader = StoreReader::open(path);
        ASSERT_TRUE(reader.has_value()) << reader.error().message();
        const auto store = Store::open(path, kLimits);
        ASSERT_TRUE(store.has_value()) << store.error().message();
        const int end = expect_whole(*reader);
        // What append() returned for is there, and at most the one that it was at.
        EXPECT_GE(end, next + run.kept);
        EXPECT_LE(end, next + run.kept + 1);
        EXPECT_EQ(test::rows_in(path), test::files_in(path));
        EXPECT_EQ(test::check_index(path), "ok\n");
        EXPECT_FALSE(std::filesystem::exists(directory / "store" / "segment.new"));
        next = end;
    }
    EXPECT_GE(killed, kKills * 9 / 10);
    EXPECT_GE(expect_whole(*StoreReader::open(path)), kKept);
}

}  // namespace
}  // namespace bobbin::store
