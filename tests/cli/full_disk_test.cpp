// SPDX-License-Identifier: Apache-2.0
// A store on a file system of one megabyte that others fill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"
#include "support/temporary_directory.h"
#include "unit/store/minute_profile.h"
#include "unit/store/store_oracles.h"

namespace bobbin::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using test::kMorning;

constexpr std::uint64_t kMaxBytes = 700'000;
constexpr Limits kLimits{.retention = hours{24 * 365}, .max_bytes = kMaxBytes};
const Range kAllTime{Time{}, kMorning + hours{24 * 365}};

// One sample of each of `functions` functions, whose names do not pack: about 40 bytes each.
symbolize::NamedProfile minute(int i, std::uint32_t functions) {
    test::MinuteProfile profile(kMorning + minutes{i});
    std::uint64_t number = static_cast<std::uint64_t>(i) * 1'000'003 + 1;
    for (std::uint32_t function = 0; function < functions; ++function) {
        std::string name = "f";
        for (int word = 0; word < 2; ++word) {
            number = number * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
            name += fmt::format("{:x}", number >> 8);
        }
        profile.add({name}, test::labels_of(7, "app"), {{function % 600, 1}});
    }
    return profile.profile;
}

class FullDisk : public testing::Test {
protected:
    void SetUp() override {
        // Nobody else sees the mount, and it leaves with the process.
        ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
        ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
        ASSERT_EQ(::mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=1m"), 0);
        auto store = Store::open(path_, kLimits);
        ASSERT_TRUE(store.has_value()) << store.error().message();
        store_.emplace(std::move(*store));
    }
    void TearDown() override {
        store_.reset();
        ::umount2(directory_.path().c_str(), MNT_DETACH);
    }

    void append_minutes(int first, int end) {
        for (int i = first; i < end; ++i) {
            const auto segment = store_->append(minute(i, 200));
            ASSERT_TRUE(segment.has_value()) << i << ": " << segment.error().message();
        }
    }
    void fill_disk() {
        std::ofstream ballast(directory_ / "ballast", std::ios::app);
        while (ballast.write("x", 1).flush()) {
        }
    }
    void make_room() { std::filesystem::remove(directory_ / "ballast"); }

    // Minutes that are there; each is whole, and the index says the same as the files.
    std::vector<int> whole_minutes() {
        std::vector<int> found;
        const auto reader = StoreReader::open(path_);
        EXPECT_TRUE(reader.has_value());
        for (const Segment& segment : reader->find(kAllTime).value_or(std::vector<Segment>{})) {
            found.push_back(static_cast<int>((segment.begin - kMorning) / minutes{1}));
            const auto profile = reader->read({segment.begin, segment.begin + minutes{1}}, {});
            EXPECT_EQ(profile->sample_count, segment.sample_count);
            EXPECT_THAT(profile->comments, testing::IsEmpty());
        }
        return found;
    }
    void expect_index_and_files_agree() {
        EXPECT_EQ(test::rows_in(path_), test::files_in(path_));
        EXPECT_EQ(test::check_index(path_), "ok\n");
        EXPECT_FALSE(std::filesystem::exists(directory_ / "store" / "segment.new"));
    }

    bobbin::test::TemporaryDirectory directory_;
    std::string path_ = directory_ / "store";
    std::optional<Store> store_;
};

TEST_F(FullDisk, LetsTheOldestGoForTheNewest) {
    append_minutes(0, 20);
    const std::size_t before = whole_minutes().size();
    ASSERT_EQ(before, 20U);
    fill_disk();
    append_minutes(20, 21);
    const std::vector<int> left = whole_minutes();
    ASSERT_FALSE(left.empty());
    EXPECT_EQ(left.back(), 20);
    EXPECT_GT(left.front(), 0);
    EXPECT_EQ(left.size(), static_cast<std::size_t>(21 - left.front())) << "without a gap";
    EXPECT_GE(left.size(), 10U);
}

TEST_F(FullDisk, RefusesWhatDoesNotFitAndGoesOnWhenThereIsRoom) {
    append_minutes(0, 20);
    fill_disk();
    // Some 300 kB; a tenth of 700 kB is given up for it, and that is not enough.
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto refused = store_->append(minute(20, 8'000));
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code().value(), ENOSPC);
        const std::vector<int> left = whole_minutes();
        EXPECT_THAT(left, testing::Not(testing::Contains(20)));
        fill_disk();
    }
    make_room();
    append_minutes(21, 25);
    EXPECT_EQ(whole_minutes().back(), 24);
    expect_index_and_files_agree();
}

TEST_F(FullDisk, WithNothingToGiveUpIsAnError) {
    fill_disk();
    const auto refused = store_->append(minute(0, 200));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code().value(), ENOSPC);
    EXPECT_THAT(whole_minutes(), testing::IsEmpty());
    make_room();
    append_minutes(0, 1);
    expect_index_and_files_agree();
}

TEST_F(FullDisk, IsOpenedAllTheSame) {
    append_minutes(0, 20);
    store_.reset();
    std::filesystem::remove(directory_ / "store" / "index.db");
    fill_disk();
    // Readers have the files; a writer comes when it can.
    EXPECT_EQ(whole_minutes().size(), 20U);
    {
        const auto without_room = Store::open(path_, kLimits);
        EXPECT_TRUE(without_room || without_room.error().code().value() == ENOSPC);
    }
    make_room();
    auto store = Store::open(path_, kLimits);
    ASSERT_TRUE(store.has_value()) << store.error().message();
    store_.emplace(std::move(*store));
    EXPECT_EQ(whole_minutes().size(), 20U);
    expect_index_and_files_agree();
}

}  // namespace
}  // namespace bobbin::store
