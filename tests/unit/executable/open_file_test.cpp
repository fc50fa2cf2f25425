// SPDX-License-Identifier: Apache-2.0
#include "executable/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "support/temporary_directory.h"

namespace bobbin::executable {
namespace {

namespace fs = std::filesystem;

// A /proc of our own: PID 42 shows `target` through map_files and exe.
class OpenAnnounced : public testing::Test {
protected:
    OpenAnnounced() {
        fs::create_directories(root_ / "42/map_files");
        write(root_ / "program", "bytes of the program");
        fs::create_symlink(root_ / "program", root_ / "42/map_files/1000-3000");
        announcement_ = announce(root_ / "program");
    }

    static void write(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

    // As the kernel side would, on a file system that shows its inodes as they are.
    static abi::announcement announce(const fs::path& path) {
        struct stat status{};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        abi::announcement announcement{};
        announcement.key.size_bytes = static_cast<__u64>(status.st_size);
        announcement.key.mtime_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
        announcement.key.inode = status.st_ino;
        announcement.key.device = major(status.st_dev) << 20 | minor(status.st_dev);
        announcement.vm_start_vaddr = 0x1000;
        announcement.vm_end_vaddr = 0x3000;
        announcement.pid = 42;
        announcement.executable_id = 7;
        return announcement;
    }

    // Another file in its place, of the same size and with the same mtime.
    void replace_program() const {
        const fs::path before = root_ / "before";
        fs::rename(root_ / "program", before);
        write(root_ / "program", "other bytes, as many");
        fs::last_write_time(root_ / "program", fs::last_write_time(before));
        ASSERT_EQ(fs::file_size(root_ / "program"), fs::file_size(before));
    }

    auto open() const { return open_announced(announcement_, root_.path().string()); }
    LostReason reason() const {
        const auto opened = open();
        EXPECT_FALSE(opened.has_value());
        return opened ? LostReason::kCount : opened.error().reason;
    }

    test::TemporaryDirectory root_;
    abi::announcement announcement_{};
};

TEST_F(OpenAnnounced, FindsTheMappedFile) {
    const auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().error.message();
    EXPECT_EQ(opened->executable_id, 7U);
    EXPECT_EQ(opened->size_bytes, 20U);
}

TEST_F(OpenAnnounced, FallsBackToTheProgramWhenTheMappingIsGone) {
    fs::rename(root_ / "42/map_files/1000-3000", root_ / "42/exe");
    const auto opened = open();
    EXPECT_TRUE(opened.has_value()) << opened.error().error.message();
}

TEST_F(OpenAnnounced, RefusesAFileOfAnotherLength) {
    write(root_ / "program", "something else of another length");
    EXPECT_EQ(reason(), LostReason::kReplaced);
}

TEST_F(OpenAnnounced, RefusesAnotherInodeOfTheSameSizeAndTime) {
    replace_program();
    EXPECT_EQ(reason(), LostReason::kReplaced);
}

// overlayfs and btrfs show a device of their own, and may show another inode number.
TEST_F(OpenAnnounced, GoesBySizeAndTimeWhereStatShowsAnotherDevice) {
    announcement_.key.device += 1;
    announcement_.key.inode += 1;
    const auto opened = open();
    EXPECT_TRUE(opened.has_value()) << opened.error().error.message();
}

TEST_F(OpenAnnounced, RefusesAFifoWithoutWaitingForAWriter) {
    fs::remove(root_ / "program");
    ASSERT_EQ(::mkfifo((root_ / "program").c_str(), 0600), 0);
    EXPECT_EQ(reason(), LostReason::kNotRegular);
}

TEST_F(OpenAnnounced, RefusesADirectory) {
    fs::remove(root_ / "program");
    fs::create_directory(root_ / "program");
    EXPECT_EQ(reason(), LostReason::kNotRegular);
}

TEST_F(OpenAnnounced, SaysWhichLinkCouldNotBeOpenedWhenTheProcessIsGone) {
    fs::remove_all(root_ / "42");
    const auto opened = open();
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().reason, LostReason::kGone);
    EXPECT_NE(opened.error().error.message().find("42/map_files/1000-3000"), std::string::npos);
    EXPECT_EQ(opened.error().error.code(), std::errc::no_such_file_or_directory);
}

TEST_F(OpenAnnounced, TellsThatThereWasNoDescriptorLeft) {
    const std::string proc = root_.path().string();
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const UniqueFd lowest_free(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit none_left{.rlim_cur = static_cast<rlim_t>(lowest_free.get()) + 1,
                           .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
    // No member of the fixture: a sanitizer looks at an object through a pipe, which needs
    // descriptors.
    const auto opened = open_announced(announcement_, proc);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().reason, LostReason::kNoDescriptor);
}

TEST(DescribeLostFiles, CountsByReasonAndIsSilentWhenNoneWasLost) {
    LostFileCounts counts{};
    EXPECT_EQ(describe(counts), "");
    counts[static_cast<std::size_t>(LostReason::kGone)] = 2;
    counts[static_cast<std::size_t>(LostReason::kTooSlow)] = 1;
    EXPECT_EQ(describe(counts),
              "3 files lost: 2 gone before it could be opened, 1 its file system did not answer in "
              "time");
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
