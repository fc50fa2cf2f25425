// SPDX-License-Identifier: Apache-2.0
#include "executable/mounts.h"

#include <gtest/gtest.h>

#include <string>

namespace bobbin::executable {
namespace {

// Lines as in proc(5).
TEST(MountsWithPrograms, ReadsDevicePathAndType) {
    const auto mounts = mounts_with_programs(
        "36 35 98:5 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2 - ext3 /dev/root rw,errors\n",
        10);
    ASSERT_EQ(mounts.size(), 1U);
    EXPECT_EQ(mounts[0].device, 98U << 20 | 5U);
    EXPECT_EQ(mounts[0].path, "/mnt2");
    EXPECT_EQ(mounts[0].type, "ext3");
}

TEST(MountsWithPrograms, UnescapesSpacesNewlinesAndBackslashes) {
    const auto mounts = mounts_with_programs(R"(1 2 0:40 / /a\040b\012c\134d\0 rw - tmpfs tmpfs rw)"
                                             "\n",
                                             10);
    ASSERT_EQ(mounts.size(), 1U);
    EXPECT_EQ(mounts[0].path, "/a b\nc\\d\\0");
}

TEST(MountsWithPrograms, LeavesOutTheKernelsOwnAndThoseWithAServer) {
    const std::string text =
        "1 2 0:1 / /proc rw - proc proc rw\n"
        "1 2 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        "1 2 0:3 / /home/x rw - fuse.sshfs x:/ rw\n"
        "1 2 0:4 / /net rw - nfs4 server:/ rw\n"
        "1 2 0:5 / /run rw - tmpfs tmpfs rw\n"
        "1 2 0:6 / /merged rw - overlay overlay rw,lowerdir=/a\n";
    const auto mounts = mounts_with_programs(text, 10);
    ASSERT_EQ(mounts.size(), 2U);
    EXPECT_EQ(mounts[0].path, "/run");
    EXPECT_EQ(mounts[1].path, "/merged");
}

TEST(MountsWithPrograms, TakesAFileSystemOnceAndNotMoreThanAskedFor) {
    std::string text;
    for (int i = 0; i < 10; ++i) text += "1 2 8:1 / /bind rw - ext4 /dev/sda1 rw\n";
    for (int i = 0; i < 10; ++i) {
        text += "1 2 9:" + std::to_string(i) + " / /x rw - xfs /dev/sdb rw\n";
    }
    EXPECT_EQ(mounts_with_programs(text, 100).size(), 11U);
    EXPECT_EQ(mounts_with_programs(text, 4).size(), 4U);
}

TEST(MountsWithPrograms, PassesOverWhatIsNoMount) {
    EXPECT_TRUE(mounts_with_programs("", 4).empty());
    EXPECT_TRUE(mounts_with_programs("\n\n1 2\n1 2 x:y / /z rw - ext4 a b\n", 4).empty());
    EXPECT_TRUE(mounts_with_programs("1 2 8:1 / /z rw ext4 a b", 4).empty());
}

}  // namespace
}  // namespace bobbin::executable
