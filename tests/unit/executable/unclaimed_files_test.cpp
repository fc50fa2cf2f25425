// SPDX-License-Identifier: Apache-2.0
#include "executable/unclaimed_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace bobbin::executable {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kDevice = 5;
const UnclaimedFiles::TimePoint kStart{seconds{1000}};

UniqueFd some_fd() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

FileStatus status(std::uint64_t inode, std::int64_t mtime_ns = 1) {
    return {.inode = inode, .size_bytes = 100, .mtime_ns = mtime_ns, .device = kDevice};
}

abi::file_key key(std::uint64_t inode, std::uint32_t device = kDevice) {
    return {.inode = inode, .size_bytes = 100, .mtime_ns = 1, .device = device};
}

TEST(UnclaimedFiles, GivesTheFileOfAKeyOnce) {
    UnclaimedFiles files;
    UniqueFd fd = some_fd();
    const int number = fd.get();
    files.add(some_fd(), status(7), kStart);
    files.add(std::move(fd), status(8), kStart);
    const auto claimed = files.claim(key(8));
    ASSERT_TRUE(claimed.has_value());
    EXPECT_EQ(claimed->get(), number);
    EXPECT_FALSE(files.claim(key(8)).has_value());
    EXPECT_EQ(files.count(), 1U);
}

TEST(UnclaimedFiles, RefusesAnotherInodeOfTheSameDevice) {
    UnclaimedFiles files;
    files.add(some_fd(), status(7), kStart);
    EXPECT_FALSE(files.claim(key(8)).has_value());
}

// overlayfs: stat shows the overlay's device, the kernel side saw the layer's.
TEST(UnclaimedFiles, GoesBySizeAndTimeOnAnotherDeviceIfOnlyOneFileFits) {
    UnclaimedFiles files;
    files.add(some_fd(), status(7), kStart);
    files.add(some_fd(), status(9, 2), kStart);
    EXPECT_TRUE(files.claim(key(8, kDevice + 1)).has_value());
}

TEST(UnclaimedFiles, GivesNoneOfTwoThatFitEquallyWell) {
    UnclaimedFiles files;
    files.add(some_fd(), status(7), kStart);
    files.add(some_fd(), status(8), kStart);
    EXPECT_FALSE(files.claim(key(9, kDevice + 1)).has_value());
    EXPECT_TRUE(files.claim(key(8, kDevice + 1)).has_value()) << "the number decides";
}

TEST(UnclaimedFiles, KeepsAFileThatRunsAgainAndAgainOnce) {
    UnclaimedFiles files;
    for (int i = 0; i < 10; ++i) files.add(some_fd(), status(7), kStart);
    EXPECT_EQ(files.count(), 1U);
}

TEST(UnclaimedFiles, DropsWhatIsTooOldAndTheOldestOfTooMany) {
    UnclaimedFiles files;
    files.add(some_fd(), status(1), kStart);
    files.add(some_fd(), status(2), kStart + seconds{1});
    files.expire(kStart + UnclaimedFiles::kMaxAge);
    EXPECT_FALSE(files.claim(key(1)).has_value());
    EXPECT_EQ(files.count(), 1U);
    for (std::uint64_t i = 0; i < UnclaimedFiles::kMaxCount; ++i) {
        files.add(some_fd(), status(100 + i), kStart);
    }
    EXPECT_EQ(files.count(), UnclaimedFiles::kMaxCount);
    EXPECT_FALSE(files.claim(key(2)).has_value());
}

}  // namespace
}  // namespace bobbin::executable
