// SPDX-License-Identifier: Apache-2.0
#include "executable/file_status.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/unique_fd.h"
#include "support/temporary_directory.h"

namespace bobbin::executable {
namespace {

namespace fs = std::filesystem;

UniqueFd place_of(const fs::path& path) { return UniqueFd(open_place(path.c_str())); }

std::string name_of_place(const UniqueFd& place) {
    const auto status = status_of(place.get());
    EXPECT_TRUE(status.has_value());
    return status ? name_of(place.get(), *status) : std::string();
}

TEST(OpenContents, ReadsTheFileThatWasFoundAlthoughItsNameIsGone) {
    const test::TemporaryDirectory directory;
    std::ofstream(directory / "program") << "bytes";
    const UniqueFd place = place_of(directory / "program");
    fs::remove(directory / "program");
    const auto fd = open_contents(place.get());
    ASSERT_TRUE(fd.has_value()) << fd.error().message();
    const UniqueFd contents(*fd);
    std::array<char, 5> bytes{};
    ASSERT_EQ(::pread(contents.get(), bytes.data(), bytes.size(), 0), 5);
    EXPECT_EQ(std::string(bytes.data(), bytes.size()), "bytes");
}

TEST(NameOf, CutsOffWhatProcSaysOfADeletedFile) {
    const test::TemporaryDirectory directory;
    const fs::path path = directory / "program";
    std::ofstream(path.string()) << "bytes";
    const UniqueFd place = place_of(path);
    fs::remove(path);
    EXPECT_EQ(name_of_place(place), path.string());
}

TEST(NameOf, KeepsTheNameOfAFileThatIsCalledSo) {
    const test::TemporaryDirectory directory;
    const fs::path path = directory / "program (deleted)";
    std::ofstream(path.string()) << "bytes";
    EXPECT_EQ(name_of_place(place_of(path)), path.string());
}

TEST(NameOf, CutsItOffWhenOneOfTwoNamesIsGone) {
    const test::TemporaryDirectory directory;
    const fs::path path = directory / "program";
    std::ofstream(path.string()) << "bytes";
    fs::create_hard_link(path, directory / "other");
    const UniqueFd place = place_of(path);
    fs::remove(path);
    EXPECT_EQ(name_of_place(place), path.string());
}

TEST(StatusOf, TellsAFileWithoutANameFromOneWithOne) {
    const UniqueFd memory(::memfd_create("x", MFD_CLOEXEC));
    EXPECT_FALSE(status_of(memory.get())->has_name);
    EXPECT_TRUE(status_of(memory.get())->is_regular);
    EXPECT_TRUE(status_of(place_of("/proc/self/exe").get())->has_name);
    EXPECT_FALSE(status_of(place_of("/").get())->is_regular);
}

TEST(Match, IsSureByDeviceAndInodeAndRefusesAnotherInodeOfTheSameDevice) {
    const FileStatus status{.inode = 7, .size_bytes = 100, .mtime_ns = 5, .device = 3};
    abi::file_key key{.inode = 7, .size_bytes = 100, .mtime_ns = 5, .device = 3, .generation = 9};
    EXPECT_EQ(match(key, status), KeyMatch::kByDeviceAndInode);
    key.inode = 8;
    EXPECT_EQ(match(key, status), KeyMatch::kNo);
    key.device = 4;
    EXPECT_EQ(match(key, status), KeyMatch::kBySizeAndTime);
    key.inode = 7;
    EXPECT_EQ(match(key, status), KeyMatch::kByInode);
    key.mtime_ns = 6;
    EXPECT_EQ(match(key, status), KeyMatch::kNo);
}

TEST(OpenPlaceCached, DoesNotLeaveTheRootItIsGiven) {
    const test::TemporaryDirectory directory;
    fs::create_symlink("/etc", directory / "way_out");
    fs::create_directory(directory / "inside");
    const UniqueFd root = place_of(directory.path());
    const UniqueFd out(open_place_cached(root.get(), "/way_out/passwd"));
    EXPECT_FALSE(out.is_open());
    const UniqueFd in(open_place_cached(root.get(), "/inside"));
    EXPECT_TRUE(in.is_open()) << errno;
}

}  // namespace
}  // namespace bobbin::executable
