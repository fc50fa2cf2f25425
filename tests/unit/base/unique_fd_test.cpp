// SPDX-License-Identifier: Apache-2.0
#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace bobbin {
namespace {

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, ClosesWhatItOwnsOnce) {
    int number = -1;
    {
        UniqueFd fd(open_null());
        number = fd.get();
        ASSERT_TRUE(is_open(number));
        const UniqueFd moved(std::move(fd));
        EXPECT_FALSE(fd.is_open());  // NOLINT(bugprone-use-after-move): what is tested
        EXPECT_TRUE(is_open(number));
    }
    EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, ClosesTheOldOneWhenItGetsANewOne) {
    UniqueFd fd(open_null());
    const int first = fd.get();
    UniqueFd other(open_null());
    const int second = other.get();
    fd = std::move(other);
    EXPECT_FALSE(is_open(first));
    EXPECT_EQ(fd.get(), second);
}

TEST(UniqueFd, HandsOverWithoutClosing) {
    UniqueFd fd(open_null());
    const UniqueFd owner(fd.release());
    fd.reset();
    EXPECT_TRUE(is_open(owner.get()));
}

}  // namespace
}  // namespace bobbin
