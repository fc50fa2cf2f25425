// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "support/child_process.h"
#include "support/record_run.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

FinishedProcess record_command(const TemporaryDirectory& directory,
                               const std::vector<std::string>& command, Environment environment) {
    std::vector<std::string> arguments = {
        program_path(), "record", "-F", "997", "-o", (directory / "profile.pb.gz").string(), "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    environment.emplace_back("BOBBIN_LOG", "trace");
    return run_process(arguments, environment);
}

std::uint64_t count_of(const std::string& text, const std::regex& pattern) {
    const std::sregex_iterator begin(text.begin(), text.end(), pattern);
    return static_cast<std::uint64_t>(std::distance(begin, std::sregex_iterator()));
}

std::uint64_t number_before(const std::string& text, const std::string& words) {
    std::smatch found;
    const bool is_there = std::regex_search(text, found, std::regex("([0-9]+) " + words));
    EXPECT_TRUE(is_there) << words << " in\n" << text;
    return is_there ? std::stoull(found[1]) : ~std::uint64_t{0};
}

// Each child is a file of its own, which is deleted as soon as it runs, for 2 ms of CPU time. With
// FIFO and exec events, as root has them, none was lost in 1,600; nine tenths leave room for a
// machine whose CPUs were taken away.
TEST(Opener, HasProgramsThatAreGoneWithinMilliseconds) {
    constexpr std::uint64_t kChildren = 200;
    const TemporaryDirectory directory;
    const auto run = record_command(directory,
                                    {fixture_path("opener_children"), directory.path().string(),
                                     std::to_string(kChildren), "2000"},
                                    {});
    ASSERT_EQ(run.exit_status, 0) << run.standard_error;
    const std::uint64_t lost = number_before(run.standard_error, "files? lost");
    EXPECT_LE(lost, kChildren / 10) << run.standard_error;
    // Children, their parent, and libraries.
    EXPECT_GE(count_of(run.standard_error, std::regex("file [0-9]+ is open")) + lost, kChildren);
}

// The command unmounts as soon as it is let, and fails if that takes a minute.
TEST(Opener, LetsAFileSystemGoWhoseProgramsItHasSampled) {
    const TemporaryDirectory directory;
    const std::string mount_point = (directory / "mount").string();
    std::filesystem::create_directory(mount_point);
    const std::string script = "mount -t tmpfs tmpfs " + mount_point + " && cp " +
                               fixture_path("opener_children") + " " + mount_point +
                               "/program && " + mount_point + "/program 300000 || exit 90\n" +
                               "for i in $(seq 600); do umount " + mount_point +
                               " 2>/dev/null && exit 0; sleep 0.1; done\n" + "exit 91\n";
    const auto run =
        record_command(directory, {"/bin/sh", "-c", script}, {{"BOBBIN_HOLD_SECONDS", "1"}});
    ::umount2(mount_point.c_str(), MNT_DETACH);
    EXPECT_EQ(run.exit_status, 0) << run.standard_error;
}

TEST(Opener, HoldsAFileSystemNoShorterThanItWasTold) {
    const TemporaryDirectory directory;
    const std::string mount_point = (directory / "mount").string();
    std::filesystem::create_directory(mount_point);
    const std::string script = "mount -t tmpfs tmpfs " + mount_point + " && cp " +
                               fixture_path("opener_children") + " " + mount_point +
                               "/program && " + mount_point + "/program 300000 || exit 90\n" +
                               "umount " + mount_point + " 2>/dev/null && exit 91 || exit 0\n";
    const auto run =
        record_command(directory, {"/bin/sh", "-c", script}, {{"BOBBIN_HOLD_SECONDS", "3600"}});
    ::umount2(mount_point.c_str(), MNT_DETACH);
    EXPECT_EQ(run.exit_status, 0) << "names could not be read any more";
}

// 12 MiB of .debug_frame, if there were anything in it, would become more rows than 64 MiB hold.
// The file's own frames end there; the shell beside it is as whole as ever.
TEST(Opener, LeavesAFileOutThatIsTooLargeForItsMemory) {
    const TemporaryDirectory directory;
    const std::string padded = (directory / "padded").string();
    const std::string prepare = "head -c 12582912 /dev/zero > " + padded +
                                ".zeros && objcopy --add-section .debug_frame=" + padded +
                                ".zeros " + fixture_path("opener_children") + " " + padded;
    ASSERT_EQ(run_process({"/bin/sh", "-c", prepare}).exit_status, 0);
    const RecordedRun run = record(
        directory, {"-F", "997", "--max-memory", "64M"},
        {"/bin/sh", "-c", padded + " 1000000; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"});
    EXPECT_NE(run.process.standard_error.find("/padded: too large to be read within --max-memory"),
              std::string::npos)
        << run.process.standard_error;
    const auto ends = accounting_of(run.profile);
    ASSERT_TRUE(ends.contains("stack_file_refused"));
    EXPECT_GE(ends.at("stack_file_refused"), 300U);
    EXPECT_GE(ends.at("stack_bottom"), 50U) << "of the shell";
}

// The program itself only needs its first pages; section headers stand at the end, behind 4 MiB
// that nobody touches, and there the file system does not answer. Read-ahead reaches 128 KiB.
TEST(Opener, EndsARecordingWhoseProgramCannotBeRead) {
    const TemporaryDirectory directory;
    const std::string mount_point = (directory / "mount").string();
    std::filesystem::create_directory(mount_point);
    const std::string padded = (directory / "padded").string();
    const std::string prepare = "head -c 4194304 /dev/zero > " + padded +
                                ".zeros && objcopy --add-section padding=" + padded + ".zeros " +
                                fixture_path("opener_children") + " " + padded;
    ASSERT_EQ(run_process({"/bin/sh", "-c", prepare}).exit_status, 0);
    const ChildProcess server({fixture_path("opener_silent_files"), "-f", mount_point, padded});
    // 7 s of CPU time are longer than the 5 s for which a file may keep its reader waiting.
    const std::string script = "while ! [ -e " + mount_point + "/program ]; do sleep 0.1; done; " +
                               mount_point + "/program 7000000";
    const auto run = record_command(directory, {"/bin/sh", "-c", script}, {});
    ::umount2(mount_point.c_str(), MNT_DETACH);
    ASSERT_EQ(run.exit_status, 0) << run.standard_error;
    EXPECT_FALSE(run.timed_out);
    EXPECT_NE(run.standard_error.find("/program: its file system did not answer in time"),
              std::string::npos)
        << run.standard_error;
}

}  // namespace
}  // namespace bobbin::test
