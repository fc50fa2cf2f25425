// SPDX-License-Identifier: Apache-2.0
#include "executable/held_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "support/temporary_directory.h"

namespace bobbin::executable {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

std::string contents_of(const HeldFile& file) {
    const auto fd = file.open_for_reading();
    if (!fd) return fd.error().message();
    std::array<char, 64> bytes{};
    const auto count = ::pread(fd->get(), bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(count)};
}

class HeldFilesTest : public testing::Test {
protected:
    std::shared_ptr<HeldFile> hold(const std::string& name) const {
        const fs::path path = directory_ / name;
        std::ofstream(path.string()) << "contents of " << name;
        auto file = std::make_shared<HeldFile>(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
                                               path.string());
        file->look_up_path();
        return file;
    }

    test::TemporaryDirectory directory_;
    const HeldFiles::TimePoint start_{seconds{1000}};
};

TEST_F(HeldFilesTest, LetsGoAfterTheTimeAndFindsTheFileAgainByItsPath) {
    HeldFiles files({.max_count = 10, .hold_for = seconds{30}});
    const auto file = hold("a");
    files.add(file, start_);
    EXPECT_EQ(files.next_due(), start_ + seconds{30});
    files.let_go_of_old(start_ + seconds{29});
    EXPECT_TRUE(file->is_held());
    files.let_go_of_old(start_ + seconds{30});
    EXPECT_FALSE(file->is_held());
    EXPECT_EQ(contents_of(*file), "contents of a");
    EXPECT_EQ(files.held_count(), 0U);
    EXPECT_EQ(files.next_due(), HeldFiles::TimePoint::max());
}

TEST_F(HeldFilesTest, HoldsOnWhatItsPathNeverLedTo) {
    hold("a");
    const fs::path path = directory_ / "a";
    HeldFile file(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
                  directory_ / "of_another_mount_namespace");
    EXPECT_FALSE(file.let_go());
    file.look_up_path();
    EXPECT_FALSE(file.let_go());
    EXPECT_EQ(contents_of(file), "contents of a");
}

TEST_F(HeldFilesTest, HoldsADeletedFileOn) {
    HeldFiles files({.max_count = 10, .hold_for = seconds{30}});
    const auto file = hold("a");
    files.add(file, start_);
    fs::remove(directory_ / "a");
    files.let_go_of_old(start_ + seconds{31});
    EXPECT_TRUE(file->is_held());
    EXPECT_EQ(contents_of(*file), "contents of a");
    EXPECT_EQ(files.held_count(), 1U);
    EXPECT_EQ(files.next_due(), HeldFiles::TimePoint::max());
}

TEST_F(HeldFilesTest, KnowsThatNoNameLeadsToAFileAnyMore) {
    const auto held = hold("a");
    const auto let_go = hold("b");
    ASSERT_TRUE(let_go->let_go());
    EXPECT_FALSE(held->is_gone());
    EXPECT_FALSE(let_go->is_gone());
    fs::rename(directory_ / "a", directory_ / "elsewhere");
    EXPECT_FALSE(held->is_gone());
    for (const char* const name : {"elsewhere", "b"}) fs::remove(directory_ / name);
    EXPECT_TRUE(held->is_gone());
    EXPECT_TRUE(let_go->is_gone());
}

// A container's path leads nowhere here, and says nothing about the file.
TEST_F(HeldFilesTest, DoesNotTakeForGoneWhatItsPathNeverLedTo) {
    hold("a");
    HeldFile file(UniqueFd(::open((directory_ / "a").c_str(), O_RDONLY | O_CLOEXEC)),
                  directory_ / "of_another_mount_namespace");
    file.look_up_path();
    EXPECT_FALSE(file.is_gone());
    file.drop();
    EXPECT_FALSE(file.is_gone());
}

TEST_F(HeldFilesTest, HoldsAReplacedFileOn) {
    HeldFiles files({.max_count = 10, .hold_for = seconds{30}});
    const auto file = hold("a");
    files.add(file, start_);
    fs::rename(directory_ / "a", directory_ / "a.old");
    std::ofstream(directory_ / "a") << "something else!";
    files.let_go_of_old(start_ + seconds{31});
    EXPECT_EQ(contents_of(*file), "contents of a");
}

TEST_F(HeldFilesTest, RefusesToReadAnotherFileUnderThePathOfOneLetGo) {
    const auto file = hold("a");
    ASSERT_TRUE(file->let_go());
    fs::rename(directory_ / "a", directory_ / "b");
    std::ofstream(directory_ / "a") << "contents of A";
    fs::last_write_time(directory_ / "a", fs::last_write_time(directory_ / "b"));
    EXPECT_FALSE(file->open_for_reading().has_value());
}

TEST_F(HeldFilesTest, HoldsOnWhatIsOnADeviceThatNobodyUnmounts) {
    const auto file = hold("a");
    HeldFiles files({.max_count = 10,
                     .hold_for = seconds{30},
                     .never_unmounted_device = file->status().device});
    files.add(file, start_);
    files.let_go_of_old(start_ + seconds{3000});
    EXPECT_TRUE(file->is_held());
}

TEST_F(HeldFilesTest, DropsTheOldestOfTooManyAndCountsOnlyWhatIsLostByIt) {
    HeldFiles files({.max_count = 2, .hold_for = seconds{30}});
    std::vector<std::shared_ptr<HeldFile>> held;
    for (const char* const name : {"a", "b", "c"}) {
        held.push_back(hold(name));
        files.add(held.back(), start_);
    }
    EXPECT_FALSE(held[0]->is_held());
    EXPECT_TRUE(held[1]->is_held());
    EXPECT_EQ(files.dropped_count(), 0U) << "it can be had by its path";
    fs::remove(directory_ / "b");
    held.push_back(hold("d"));
    files.add(held.back(), start_);
    EXPECT_FALSE(held[1]->is_held());
    EXPECT_EQ(files.dropped_count(), 1U);
    EXPECT_EQ(files.held_count(), 2U);
}

TEST_F(HeldFilesTest, ForgetsAFileWhoseOwnerIsGone) {
    HeldFiles files({.max_count = 1, .hold_for = seconds{30}});
    files.add(hold("a"), start_);
    fs::remove(directory_ / "a");
    files.add(hold("b"), start_);
    EXPECT_EQ(files.dropped_count(), 0U);
}

TEST(HeldFile, WithoutADescriptorAndWithoutAPathHasNothingToRead) {
    const HeldFile nothing(UniqueFd(), "[vdso]");
    EXPECT_FALSE(nothing.open_for_reading().has_value());
}

}  // namespace
}  // namespace bobbin::executable
