// SPDX-License-Identifier: Apache-2.0
#include "executable/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace bobbin::executable {
namespace {

namespace fs = std::filesystem;

// A /proc of our own: PID 42 shows `target` through map_files and exe.
class OpenAnnounced : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "bobbin-open-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        root_ = pattern;
        fs::create_directories(root_ / "42" / "map_files");
        write(root_ / "program", "bytes of the program");
        fs::create_symlink(root_ / "program", root_ / "42" / "map_files" / "1000-3000");
        announcement_ = announce(root_ / "program");
    }
    void TearDown() override { fs::remove_all(root_); }

    static void write(const fs::path& path, const std::string& text) {
        std::ofstream(path) << text;
    }

    static abi::announcement announce(const fs::path& path) {
        struct stat status{};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        abi::announcement announcement{};
        announcement.key.size_bytes = static_cast<__u64>(status.st_size);
        announcement.key.mtime_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
        announcement.vm_start_vaddr = 0x1000;
        announcement.vm_end_vaddr = 0x3000;
        announcement.pid = 42;
        announcement.executable_id = 7;
        return announcement;
    }

    Result<OpenedFile> open() const { return open_announced(announcement_, root_.string()); }

    fs::path root_;
    abi::announcement announcement_{};
};

TEST_F(OpenAnnounced, OpensTheMappedFileAndKeepsItWhenItsNameGoes) {
    const auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    fs::remove(root_ / "program");
    std::array<char, 5> head{};
    ASSERT_EQ(::pread(opened->fd.get(), head.data(), head.size(), 0), 5);
    EXPECT_EQ(std::string(head.data(), head.size()), "bytes");
    EXPECT_EQ(opened->path, (root_ / "program").string());
    EXPECT_EQ(opened->executable_id, 7U);
    EXPECT_EQ(opened->size_bytes, 20U);
}

TEST_F(OpenAnnounced, FallsBackToTheProgramWhenTheMappingIsGone) {
    fs::rename(root_ / "42" / "map_files" / "1000-3000", root_ / "42" / "exe");
    const auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    EXPECT_EQ(opened->path, (root_ / "program").string());
}

TEST_F(OpenAnnounced, RefusesAnotherFileUnderTheSameName) {
    write(root_ / "program", "something else of another length");
    const auto opened = open();
    ASSERT_FALSE(opened.has_value());
    EXPECT_NE(opened.error().message().find("not the file that was announced"), std::string::npos);
}

TEST_F(OpenAnnounced, RefusesAFifoWithoutWaitingForAWriter) {
    fs::remove(root_ / "program");
    ASSERT_EQ(::mkfifo((root_ / "program").c_str(), 0600), 0);
    const auto opened = open();
    ASSERT_FALSE(opened.has_value());
    EXPECT_NE(opened.error().message().find("not a regular file"), std::string::npos);
}

TEST_F(OpenAnnounced, SaysWhichLinkCouldNotBeOpenedWhenTheProcessIsGone) {
    fs::remove_all(root_ / "42");
    const auto opened = open();
    ASSERT_FALSE(opened.has_value());
    EXPECT_NE(opened.error().message().find("42/map_files/1000-3000"), std::string::npos);
    EXPECT_EQ(opened.error().code(), std::errc::no_such_file_or_directory);
}

TEST_F(OpenAnnounced, CutsOffWhatProcSaysOfADeletedFile) {
    fs::rename(root_ / "program", root_ / "program (deleted)");
    fs::remove(root_ / "42" / "map_files" / "1000-3000");
    fs::create_symlink(root_ / "program (deleted)", root_ / "42" / "map_files" / "1000-3000");
    const auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    EXPECT_EQ(opened->path, (root_ / "program").string());
}

TEST(ParseAnnouncement, RefusesAShortRecord) {
    abi::announcement announcement{};
    announcement.executable_id = 9;
    const auto bytes = std::as_bytes(std::span(&announcement, 1));
    EXPECT_EQ(parse_announcement(bytes)->executable_id, 9U);
    EXPECT_FALSE(parse_announcement(bytes.first(bytes.size() - 1)).has_value());
}

}  // namespace
}  // namespace bobbin::executable
