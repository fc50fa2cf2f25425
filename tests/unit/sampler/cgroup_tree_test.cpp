// SPDX-License-Identifier: Apache-2.0
#include "sampler/cgroup_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/temporary_directory.h"

namespace bobbin::sampler {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

// A mountinfo(5) line of a hierarchy.
std::string mounted(const std::string& point, const std::string& type) {
    return "36 35 0:27 / " + point + " rw,nosuid shared:4 - " + type + " " + type + " rw\n";
}

TEST(CgroupTree, IsWhereVersion2IsMounted) {
    const auto only = CgroupTree::from_mounts("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" +
                                              mounted("/sys/fs/cgroup", "cgroup2"));
    ASSERT_TRUE(only.has_value());
    EXPECT_EQ(only->mount_point(), "/sys/fs/cgroup");
    EXPECT_FALSE(only->has_version_1_beside());

    const auto hybrid = CgroupTree::from_mounts(mounted("/sys/fs/cgroup/cpu", "cgroup") +
                                                mounted("/sys/fs/cgroup/unified", "cgroup2"));
    ASSERT_TRUE(hybrid.has_value());
    EXPECT_EQ(hybrid->mount_point(), "/sys/fs/cgroup/unified");
    EXPECT_TRUE(hybrid->has_version_1_beside());
}

TEST(CgroupTree, IsNotThereWithVersion1Alone) {
    const auto older = CgroupTree::from_mounts(mounted("/sys/fs/cgroup/cpu", "cgroup"));
    ASSERT_FALSE(older.has_value());
    EXPECT_THAT(older.error().message(), testing::HasSubstr("only cgroups of version 1"));
    EXPECT_FALSE(CgroupTree::from_mounts("").has_value());
    EXPECT_FALSE(CgroupTree::from_mounts("- cgroup2\ncgroup2\n").has_value());
}

// An ordinary directory stands for the mount: finding a name takes nothing but directories.
class CgroupTreeOfDirectories : public testing::Test {
protected:
    CgroupTreeOfDirectories() {
        for (const char* const path :
             {"system.slice/nginx.service",
              "user.slice/user-1.slice/user@1.service/app.slice/a.service",
              "user.slice/user-2.slice/user@2.service/app.slice/a.service"}) {
            fs::create_directories(root_ / path);
        }
    }

    std::vector<std::string> paths_named(const std::string& wanted) const {
        std::vector<std::string> paths;
        const auto is_wanted = [&](std::string_view name, std::string_view) {
            return name == wanted;
        };
        for (const Cgroup& cgroup : tree().find(is_wanted)) {
            struct stat directory{};
            EXPECT_EQ(::stat((root_.string() + cgroup.path).c_str(), &directory), 0);
            EXPECT_EQ(cgroup.id, directory.st_ino);
            paths.push_back(cgroup.path);
        }
        return paths;
    }
    CgroupTree tree() const { return *CgroupTree::from_mounts(mounted(root_, "cgroup2")); }

    const test::TemporaryDirectory directory_;
    const fs::path root_ = directory_.path();
};

TEST_F(CgroupTreeOfDirectories, IsSearchedByName) {
    EXPECT_THAT(paths_named("nginx.service"), UnorderedElementsAre("/system.slice/nginx.service"));
    EXPECT_THAT(paths_named("nginx"), UnorderedElementsAre());
    EXPECT_THAT(
        paths_named("a.service"),
        UnorderedElementsAre("/user.slice/user-1.slice/user@1.service/app.slice/a.service",
                             "/user.slice/user-2.slice/user@2.service/app.slice/a.service"));
}

TEST_F(CgroupTreeOfDirectories, IsNotLeftThroughALink) {
    fs::create_directory_symlink("/", root_ / "system.slice/link");
    EXPECT_THAT(paths_named("system.slice"), UnorderedElementsAre("/system.slice"));
    EXPECT_THAT(paths_named("usr"), UnorderedElementsAre());
}

TEST_F(CgroupTreeOfDirectories, FindsNothingBelowWhatItFound) {
    fs::create_directories(root_ / "nested.slice/a/nested.slice");
    EXPECT_THAT(paths_named("nested.slice"), UnorderedElementsAre("/nested.slice"));
}

TEST_F(CgroupTreeOfDirectories, TakesNoOtherDirectoryForACgroup) {
    const auto other = tree().at("system.slice");
    ASSERT_FALSE(other.has_value());
    EXPECT_FALSE(other.error().code());
    EXPECT_THAT(other.error().message(), testing::HasSubstr("is no cgroup below"));
    const auto missing = tree().at("missing.slice");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code(), std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace bobbin::sampler
