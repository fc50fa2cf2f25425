// SPDX-License-Identifier: Apache-2.0
#include "output/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "profile/gzip.h"
#include "profile/pprof.h"
#include "support/temporary_directory.h"

namespace bobbin::output {
namespace {

using test::file_content;
using test::put_file;
using test::TemporaryDirectory;
using testing::EndsWith;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// One stack whose process is called `comm`: folded, it is "comm 1\n".
symbolize::NamedProfile profile_named(const std::string& comm) {
    symbolize::NamedProfile profile;
    symbolize::NamedStack stack;
    stack.labels.comm = comm;
    stack.count = 1;
    profile.stacks.push_back(stack);
    return profile;
}

std::vector<std::string> names_in(const TemporaryDirectory& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
        names.push_back(entry.path().filename());
    }
    return names;
}

Result<WrittenFile> write(const std::string& path, const symbolize::NamedProfile& profile,
                          std::optional<FileOwner> owner = std::nullopt) {
    BOBBIN_TRY(const OutputFile file, OutputFile::prepare(path));
    return file.write(profile, owner);
}

std::string error_of_prepare(const std::string& path) {
    const auto file = OutputFile::prepare(path);
    return file ? "none" : file.error().message();
}

struct stat status_of(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
}

TEST(FormatOf, GoesByTheEnding) {
    EXPECT_EQ(format_of("a/profile.pb.gz").value(), Format::kPprof);
    EXPECT_EQ(format_of("profile.pprof").value(), Format::kPprof);
    EXPECT_EQ(format_of("x.folded").value(), Format::kFolded);
    EXPECT_EQ(format_of("x.html").value(), Format::kHtml);
    EXPECT_EQ(format_of("x.speedscope.json").value(), Format::kSpeedscope);
    EXPECT_EQ(format_of("x.firefox.json").value(), Format::kFirefox);
    EXPECT_EQ(format_of("x.firefox.json.gz").value(), Format::kFirefoxGzip);
    EXPECT_EQ(format_of("x.pftrace").value(), Format::kPerfetto);
    EXPECT_EQ(format_of("-").value(), Format::kPprof);
}

TEST(FormatOf, NamesTheEndingsThereAre) {
    for (const char* path : {"profile.txt", "profile", "", "folded", "profile.folded/", "x.json"}) {
        const auto format = format_of(path);
        ASSERT_FALSE(format) << path;
        EXPECT_THAT(format.error().message(),
                    EndsWith("there are: .pb.gz .pprof .html .folded .speedscope.json "
                             ".firefox.json .firefox.json.gz .pftrace"));
    }
}

TEST(PrepareOutputFile, LeavesNothingBehind) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(OutputFile::prepare(directory / "x.folded"));
    EXPECT_TRUE(names_in(directory).empty());
}

TEST(PrepareOutputFile, RefusesDirectoriesThatAreNone) {
    const TemporaryDirectory directory;
    EXPECT_THAT(error_of_prepare(directory / "absent/x.folded"),
                EndsWith("No such file or directory"));
    put_file(directory / "file", "");
    EXPECT_THAT(error_of_prepare(directory / "file/x.folded"), EndsWith("Not a directory"));
}

TEST(PrepareOutputFile, RefusesPathsThatAreDirectories) {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "x.folded");
    EXPECT_THAT(error_of_prepare(directory / "x.folded"), EndsWith("Is a directory"));
}

// Nobody can make a file in /proc, not even root.
TEST(PrepareOutputFile, RefusesDirectoriesThatCannotBeWritten) {
    EXPECT_THAT(error_of_prepare("/proc/x.folded"), HasSubstr("make a file in /proc: "));
}

TEST(WriteOutputFile, WritesTheFormatOfTheEnding) {
    const TemporaryDirectory directory;
    const auto folded = write(directory / "x.folded", profile_named("app"));
    ASSERT_TRUE(folded) << folded.error().message();
    EXPECT_EQ(folded->path, directory / "x.folded");
    EXPECT_EQ(folded->size_bytes, 6U);
    EXPECT_EQ(file_content(directory / "x.folded"), "app 1\n");
    ASSERT_TRUE(write(directory / "x.pb.gz", profile_named("app")));
    EXPECT_EQ(file_content(directory / "x.pb.gz"), *profile::encode_pprof(profile_named("app")));
    EXPECT_THAT(names_in(directory), UnorderedElementsAre("x.folded", "x.pb.gz"));
}

TEST(WriteOutputFile, KeepsTimesInPprof) {
    const TemporaryDirectory directory;
    symbolize::NamedProfile profile = profile_named("app");
    profile.time_bucket = std::chrono::milliseconds(100);
    profile.stacks[0].times = {{7, 1}};
    const auto file = OutputFile::prepare(directory / "x.pb.gz");
    ASSERT_TRUE(file && file->write(profile, std::nullopt));
    EXPECT_EQ(file_content(directory / "x.pb.gz"),
              *profile::encode_pprof(profile, profile::Times::kKeep));
    EXPECT_NE(file_content(directory / "x.pb.gz"), *profile::encode_pprof(profile));
}

TEST(WriteOutputFile, PacksFirefoxWhereTheEndingSaysSo) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(write(directory / "x.firefox.json", profile_named("app")));
    ASSERT_TRUE(write(directory / "x.firefox.json.gz", profile_named("app")));
    EXPECT_EQ(*profile::gunzip(file_content(directory / "x.firefox.json.gz"), 1 << 20),
              file_content(directory / "x.firefox.json"));
}

TEST(WriteOutputFile, LetsEverybodyReadWhateverTheUmask) {
    const TemporaryDirectory directory;
    const mode_t old_mask = ::umask(0077);
    const auto written = write(directory / "x.folded", profile_named("app"));
    ::umask(old_mask);
    ASSERT_TRUE(written);
    EXPECT_EQ(status_of(directory / "x.folded").st_mode, S_IFREG | 0644U);
}

TEST(WriteOutputFile, KeepsTheFileBefore) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.folded";
    for (const char* comm : {"first", "second", "third"}) {
        const auto written = write(path, profile_named(comm));
        ASSERT_TRUE(written) << written.error().message();
    }
    EXPECT_EQ(file_content(path), "third 1\n");
    EXPECT_EQ(file_content(path + ".old"), "second 1\n");
    EXPECT_THAT(names_in(directory), UnorderedElementsAre("x.folded", "x.folded.old"));
}

TEST(WriteOutputFile, WritesToPathsWithoutDirectory) {
    const TemporaryDirectory directory;
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(directory.path());
    const auto written = write("x.folded", profile_named("app"));
    std::filesystem::current_path(before);
    ASSERT_TRUE(written) << written.error().message();
    EXPECT_EQ(file_content(directory / "x.folded"), "app 1\n");
}

TEST(WriteOutputFile, ReplacesSymbolicLinksInsteadOfFollowingThem) {
    const TemporaryDirectory directory;
    put_file(directory / "precious", "untouched");
    std::filesystem::create_symlink("precious", directory / "x.folded");
    std::filesystem::create_symlink("precious", directory / "x.folded.old");
    ASSERT_TRUE(write(directory / "x.folded", profile_named("app")));
    EXPECT_EQ(file_content(directory / "precious"), "untouched");
    EXPECT_TRUE(S_ISREG(status_of(directory / "x.folded").st_mode));
    EXPECT_TRUE(S_ISLNK(status_of(directory / "x.folded.old").st_mode));
}

TEST(WriteOutputFile, GivesTheFileToItsOwner) {
    const TemporaryDirectory directory;
    const bool is_root = ::geteuid() == 0;
    // Anybody may give a file to themselves, root to anybody.
    const FileOwner owner{is_root ? 12345 : ::geteuid(), is_root ? 23456 : ::getegid()};
    ASSERT_TRUE(write(directory / "x.folded", profile_named("app"), owner));
    const struct stat status = status_of(directory / "x.folded");
    EXPECT_EQ(status.st_uid, owner.uid);
    EXPECT_EQ(status.st_gid, owner.gid);
}

// A file size limit fails in write(2), as a full disk does.
TEST(WriteOutputFile, KeepsTheOldFileWhenTheDiskIsFull) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.folded";
    ASSERT_TRUE(write(path, profile_named("old")));

    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto written = write(path, profile_named(std::string(10000, 'x')));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);

    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message(), "write " + path + ": File too large");
    EXPECT_EQ(file_content(path), "old 1\n");
    EXPECT_THAT(names_in(directory), UnorderedElementsAre("x.folded"));
}

TEST(WriteOutputFile, KeepsTheOldFileWhenItsPlaceIsTaken) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.folded";
    ASSERT_TRUE(write(path, profile_named("old")));
    std::filesystem::create_directory(path + ".old");
    const auto written = write(path, profile_named("new"));
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message(), HasSubstr("keep the old file as " + path + ".old"));
    EXPECT_EQ(file_content(path), "old 1\n");
    EXPECT_THAT(names_in(directory), UnorderedElementsAre("x.folded", "x.folded.old"));
}

TEST(WriteOutputFile, WritesDashToStandardOutput) {
    const TemporaryDirectory directory;
    const auto written = [&] {
        const UniqueFd saved(::dup(STDOUT_FILENO));
        const UniqueFd file(::open((directory / "out").c_str(), O_WRONLY | O_CREAT, 0600));
        ::dup2(file.get(), STDOUT_FILENO);
        auto result = write("-", profile_named("app"));
        ::dup2(saved.get(), STDOUT_FILENO);
        return result;
    }();
    ASSERT_TRUE(written) << written.error().message();
    EXPECT_EQ(file_content(directory / "out"), *profile::encode_pprof(profile_named("app")));
}

TEST(PrepareOutputFile, RefusesBinaryDataOnTerminals) {
    const UniqueFd terminal(::posix_openpt(O_RDWR | O_NOCTTY));
    ASSERT_TRUE(terminal.is_open());
    ASSERT_EQ(::grantpt(terminal.get()), 0);
    ASSERT_EQ(::unlockpt(terminal.get()), 0);
    const UniqueFd screen(::open(::ptsname(terminal.get()), O_RDWR | O_NOCTTY));
    ASSERT_TRUE(screen.is_open());
    const UniqueFd saved(::dup(STDOUT_FILENO));
    ::dup2(screen.get(), STDOUT_FILENO);
    const auto file = OutputFile::prepare("-");
    ::dup2(saved.get(), STDOUT_FILENO);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message(), HasSubstr("standard output is a terminal"));
}

class SudoUser : public testing::Test {
protected:
    ~SudoUser() override {
        ::unsetenv("SUDO_UID");
        ::unsetenv("SUDO_GID");
    }
    static std::optional<FileOwner> with(const char* uid, const char* gid) {
        ::setenv("SUDO_UID", uid, 1);
        ::setenv("SUDO_GID", gid, 1);
        return sudo_user();
    }
};

TEST_F(SudoUser, IsBelievedOnlyFromRoot) {
    const auto owner = with("1000", "100");
    EXPECT_EQ(owner.has_value(), ::geteuid() == 0);
    if (owner) {
        EXPECT_EQ(owner->uid, 1000U);
        EXPECT_EQ(owner->gid, 100U);
    }
}

TEST_F(SudoUser, MustBeDigits) {
    for (const char* bad : {"", " 1000", "1000 ", "-1", "+1", "0x10", "1e3", "4294967295",
                            "4294967296", "99999999999999999999", "root"}) {
        EXPECT_FALSE(with(bad, "100")) << bad;
        EXPECT_FALSE(with("1000", bad)) << bad;
    }
}

TEST_F(SudoUser, IsNobodyWithoutBothVariables) {
    ::unsetenv("SUDO_UID");
    ::unsetenv("SUDO_GID");
    EXPECT_FALSE(sudo_user());
    ::setenv("SUDO_UID", "1000", 1);
    EXPECT_FALSE(sudo_user());
}

}  // namespace
}  // namespace bobbin::output
