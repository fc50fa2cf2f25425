// SPDX-License-Identifier: Apache-2.0
#include "daemon/builder_crew.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "base/unique_fd.h"
#include "daemon/thread_times.h"

namespace bobbin::daemon {
namespace {

constexpr std::uint64_t kEnoughMemoryBytes = 1ULL << 30;

executable::OpenedFile opened(std::uint32_t id, const char* path) {
    executable::OpenedFile file;
    file.executable_id = id;
    file.path = path;
    file.fd = UniqueFd(::open(path, O_RDONLY | O_CLOEXEC));
    return file;
}

TEST(BuilderCrew, BuildsWhatIsOpened) {
    const auto files =
        std::make_shared<FilesInFlight>(executable::HoldLimits{}, kEnoughMemoryBytes);
    BuilderCrew crew(files, 1);
    files->opened.push(opened(7, "/proc/self/exe"), 1000);
    const auto publication = files->built.pop(std::stop_token());
    ASSERT_TRUE(publication.has_value());
    const auto& built = std::get<executable::BuiltExecutable>(*publication);
    EXPECT_EQ(built.executable.id, 7U);
    EXPECT_TRUE(built.table.has_value()) << built.executable.refused;
}

// This program's own unwind information is more than 64 bytes, and so is what any file takes.
TEST(BuilderCrew, RefusesWhatTakesMoreMemoryThanThereIs) {
    const auto files = std::make_shared<FilesInFlight>(executable::HoldLimits{}, 64);
    BuilderCrew crew(files, 1);
    files->opened.push(opened(7, "/proc/self/exe"), 1000);
    const auto publication = files->built.pop(std::stop_token());
    ASSERT_TRUE(publication.has_value());
    const auto& refused = std::get<executable::BuiltExecutable>(*publication).executable;
    EXPECT_EQ(refused.id, 7U);
    EXPECT_EQ(refused.path, "/proc/self/exe");
    EXPECT_NE(refused.refused.find("--max-memory"), std::string::npos) << refused.refused;
    EXPECT_EQ(files->lost_files()[static_cast<std::size_t>(executable::LostReason::kTooLarge)], 1U);
}

TEST(FilesInFlight, HasAFileAnnouncedAgainOnlyWhereThatMayHelp) {
    FilesInFlight files{executable::HoldLimits{}, kEnoughMemoryBytes};
    abi::announcement announcement{};
    announcement.executable_id = 9;
    files.lose(announcement, executable::LostReason::kGone);
    const auto gone = files.built.pop(std::stop_token());
    EXPECT_EQ(std::get<abi::announcement>(*gone).executable_id, 9U);
    files.lose(announcement, executable::LostReason::kTooSlow, "/mnt/silent/program");
    const auto slow = files.built.pop(std::stop_token());
    const auto& refused = std::get<executable::BuiltExecutable>(*slow).executable;
    EXPECT_EQ(refused.id, 9U);
    EXPECT_EQ(refused.path, "/mnt/silent/program");
    EXPECT_NE(refused.refused, "");
    EXPECT_EQ(files.lost_files()[static_cast<std::size_t>(executable::LostReason::kGone)], 1U);
}

TEST(FilesInFlight, AsksASilentFileSystemTwice) {
    FilesInFlight files{executable::HoldLimits{}, kEnoughMemoryBytes};
    files.note_silent(3);
    EXPECT_FALSE(files.is_silent(3));
    files.note_silent(3);
    EXPECT_TRUE(files.is_silent(3));
    EXPECT_FALSE(files.is_silent(4));
}

// proc(5); the second field of stat is the name, whatever it holds.
TEST(ParseThreadTimes, ReadsTimesAndState) {
    const auto times = parse_thread_times("1500 300 7\n", "42 (a) R b) S 1 42 42 0\n");
    ASSERT_TRUE(times.has_value());
    EXPECT_EQ(times->ran.count(), 1500);
    EXPECT_EQ(times->waited_for_cpu.count(), 300);
    EXPECT_TRUE(times->is_asleep);
    EXPECT_FALSE(parse_thread_times("1 2 3\n", "42 (x) R 1\n")->is_asleep);
}

TEST(ParseThreadTimes, RefusesWhatIsNotThere) {
    EXPECT_FALSE(parse_thread_times("", "42 (x) R 1\n").has_value());
    EXPECT_FALSE(parse_thread_times("1\n", "42 (x) R 1\n").has_value());
    EXPECT_FALSE(parse_thread_times("1 2 3\n", "").has_value());
    EXPECT_FALSE(parse_thread_times("1 2 3\n", "42 (x)").has_value());
}

TEST(ThreadTimes, KnowsThisThread) {
    const auto times = thread_times(::gettid());
    ASSERT_TRUE(times.has_value());
    EXPECT_GT(times->ran.count(), 0);
    EXPECT_FALSE(times->is_asleep);
}

}  // namespace
}  // namespace bobbin::daemon
