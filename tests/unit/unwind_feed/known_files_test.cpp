// SPDX-License-Identifier: Apache-2.0
// A kernel with room for eight files: six make ids scarce, four are to stay.
#include "unwind_feed/known_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fake_kernel_tables.h"
#include "unwind_feed/unwind_feed.h"

namespace bobbin::unwind_feed {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t kFiles = 8;
constexpr std::uint32_t kNext = abi::MAX_EXECUTABLES;
constexpr seconds kALongTime{100};

class ScarceIdsTest : public testing::Test {
protected:
    ScarceIdsTest() : feed_(kernel_, shared_, catalog_, 8 * kBucketChargeBytes) {
        kernel_.most_files = kFiles;
    }

    static executable::BuiltExecutable built(std::uint32_t id, std::uint64_t inode) {
        executable::BuiltExecutable result;
        result.key.inode = inode;
        result.executable.id = id;
        result.executable.path = "/bin/" + std::to_string(inode);
        result.table.emplace();
        result.table->words.assign(16, id);
        result.table->granule_count = 1;
        return result;
    }
    // The file with this inode, which the kernel calls `id`.
    void publish(std::uint32_t id, std::uint64_t inode) {
        ASSERT_TRUE(feed_.publish(built(id, inode), now_).has_value());
    }
    void publish_first(std::uint32_t count) {
        for (std::uint32_t id = 2; id < 2 + count; ++id) {
            publish(id, id);
            now_ += milliseconds{1};
        }
    }
    void sample(std::uint32_t id) {
        const abi::frame_word frame = abi::frame_word{id} << FRAME_EXECUTABLE_SHIFT | 0x10;
        feed_.last_sampled().note({&frame, 1}, now_);
    }
    void look_again() { feed_.look_again(now_ += seconds{1}); }
    void count_all_samples() { feed_.note_counted_until(now_ += milliseconds{1}); }
    std::vector<std::uint64_t> known_inodes() const {
        std::vector<std::uint64_t> inodes;
        for (const auto& [inode, entry] : kernel_.files) inodes.push_back(inode);
        return inodes;
    }

    FakeKernelTables kernel_;
    unwind_table::SharedRules shared_;
    executable::Catalog catalog_;
    UnwindFeed feed_;
    nanoseconds now_ = seconds{1000};
};

TEST_F(ScarceIdsTest, ForgetsNothingWhileThereAreIds) {
    publish_first(6);
    now_ += kALongTime;
    look_again();
    count_all_samples();
    look_again();
    EXPECT_EQ(kernel_.files.size(), 6U);
    EXPECT_TRUE(kernel_.free_ids.empty());
}

TEST_F(ScarceIdsTest, ForgetsWhatWasNotSampledForLongest) {
    publish_first(7);
    now_ += kALongTime;
    sample(2);
    sample(4);
    look_again();
    EXPECT_EQ(known_inodes(), (std::vector<std::uint64_t>{2, 4, 7, 8}));
    EXPECT_EQ(feed_.counts().files_forgotten, 3U);
    EXPECT_EQ(feed_.table_bytes(), 4U * 64) << "tables of the others are gone too";
}

TEST_F(ScarceIdsTest, KeepsWhatWasMetAMomentAgo) {
    publish_first(7);
    look_again();  // one second later
    EXPECT_EQ(known_inodes(), (std::vector<std::uint64_t>{5, 6, 7, 8}))
        << "the first three are old";
    kernel_.files.clear();
    UnwindFeed fresh(kernel_, shared_, catalog_, 8 * kBucketChargeBytes);
    for (std::uint32_t id = 2; id < 9; ++id) {
        ASSERT_TRUE(fresh.publish(built(id, id), now_).has_value());
    }
    fresh.look_again(now_ + kForgetAfter - nanoseconds{1});
    EXPECT_EQ(kernel_.files.size(), 7U);
}

// State, table, a grace period: nobody is about to mark the file as announced. Then its key, and a
// grace period in which programs look twice.
TEST_F(ScarceIdsTest, ForgetsInAnOrderThatNoProgramCanMistake) {
    publish_first(7);
    now_ += kALongTime;
    for (std::uint32_t id = 3; id < 9; ++id) sample(id);
    kernel_.calls.clear();
    feed_.look_again(now_);
    EXPECT_EQ(kernel_.calls, (std::vector<std::string>{"file", "executable", "void remembered",
                                                       "wait", "begin forgetting", "forget file",
                                                       "wait", "end forgetting"}));
    EXPECT_EQ(kernel_.executables[2].is_ready, 0U);
}

TEST_F(ScarceIdsTest, GivesAPlaceBackOnlyWhenAllSamplesAreCounted) {
    publish_first(7);
    now_ += kALongTime;
    look_again();
    ASSERT_EQ(feed_.counts().files_forgotten, 3U);
    feed_.note_counted_until(now_ - seconds{1});
    look_again();
    EXPECT_TRUE(kernel_.free_ids.empty());
    count_all_samples();
    look_again();
    EXPECT_EQ(kernel_.free_ids, (std::vector<std::uint32_t>{2 + kNext, 3 + kNext, 4 + kNext}));
}

TEST_F(ScarceIdsTest, NamesASecondFileOfAPlaceByAnotherId) {
    publish_first(7);
    sample(2);
    now_ += kALongTime;
    look_again();
    count_all_samples();
    look_again();
    ASSERT_EQ(kernel_.free_ids.front(), 2 + kNext);
    EXPECT_EQ(feed_.state_of(2 + kNext), abi::FILE_ANNOUNCED) << "nothing was told yet";
    EXPECT_EQ(feed_.last_sampled().of(2 + kNext, now_).heat, 0U);
    publish(2 + kNext, 1002);
    EXPECT_EQ(feed_.state_of(2 + kNext), abi::FILE_READY);
    EXPECT_EQ(feed_.state_of(2), abi::FILE_NO_ROOM) << "whatever the next one's is";
    EXPECT_EQ(catalog_.find(2)->path, "/bin/2") << "samples show it";
    EXPECT_EQ(catalog_.find(2 + kNext)->path, "/bin/1002");
}

TEST_F(ScarceIdsTest, KeepsNamesOnlyOfWhatSamplesShow) {
    publish_first(7);
    sample(3);
    now_ += kALongTime;
    look_again();
    EXPECT_NE(catalog_.find(2), nullptr) << "a sample may still be on its way";
    count_all_samples();
    look_again();
    EXPECT_EQ(catalog_.find(2), nullptr);
    EXPECT_NE(catalog_.find(3), nullptr);
    EXPECT_EQ(catalog_.all().size(), 5U);
}

// Built again while it was forgotten, or lost.
TEST_F(ScarceIdsTest, DropsWhatComesForAForgottenFile) {
    publish_first(7);
    now_ += kALongTime;
    look_again();
    const auto known = known_inodes();
    publish(2, 2);
    abi::announcement announcement{};
    announcement.key.inode = 3;
    announcement.executable_id = 3;
    ASSERT_TRUE(feed_.forget(announcement, now_).has_value());
    EXPECT_EQ(known_inodes(), known);
    EXPECT_EQ(kernel_.executables[2].is_ready, 0U);
}

TEST_F(ScarceIdsTest, NeverForgetsTheVdso) {
    publish(EXECUTABLE_ID_VDSO, 0);
    publish_first(7);
    now_ += kALongTime;
    look_again();
    EXPECT_EQ(feed_.state_of(EXECUTABLE_ID_VDSO), abi::FILE_READY);
    EXPECT_EQ(kernel_.executables[EXECUTABLE_ID_VDSO].is_ready, 1U);
}

// A memfd has no name, as a deleted file has none.
TEST_F(ScarceIdsTest, ForgetsFilesWithoutANameFirst) {
    publish_first(6);
    auto gone = built(8, 8);
    gone.executable.file = std::make_shared<executable::HeldFile>(
        UniqueFd(::memfd_create("gone", MFD_CLOEXEC)), std::string());
    ASSERT_TRUE(feed_.publish(std::move(gone), now_).has_value());
    now_ += kALongTime;
    for (std::uint32_t id = 5; id < 8; ++id) sample(id);
    now_ += seconds{10};
    look_again();
    EXPECT_EQ(known_inodes(), (std::vector<std::uint64_t>{4, 5, 6, 7}))
        << "8, which came last, and then the oldest";
}

// Ten places for a thousand files: as the kernel does, the oldest free id is given out.
TEST_F(ScarceIdsTest, HasAnIdForEachOfManyFilesThatComeOneAfterTheOther) {
    kernel_.most_files = 10;
    for (std::uint32_t id = 2; id < 12; ++id) kernel_.free_ids.push_back(id);
    std::map<std::uint32_t, std::uint64_t> inode_by_id;
    for (std::uint64_t inode = 1; inode <= 1000; ++inode) {
        ASSERT_FALSE(kernel_.free_ids.empty()) << "file " << inode;
        const std::uint32_t id = kernel_.free_ids.front();
        kernel_.free_ids.erase(kernel_.free_ids.begin());
        EXPECT_TRUE(inode_by_id.emplace(id, inode).second) << "id " << id << " comes again";
        publish(id, inode);
        sample(id);
        now_ += milliseconds{500};
        count_all_samples();
        feed_.look_again(now_);
    }
    for (const auto& [id, inode] : inode_by_id) {
        ASSERT_NE(catalog_.find(id), nullptr) << id;
        EXPECT_EQ(catalog_.find(id)->path, "/bin/" + std::to_string(inode));
    }
}

// Whichever call of the kernel fails: nothing is stuck, no id is given out twice, and none is lost.
TEST(ScarceIds, SurviveAFailureOfEachCall) {
    for (std::size_t failing = 0;; ++failing) {
        SCOPED_TRACE("call " + std::to_string(failing));
        FakeKernelTables kernel;
        kernel.most_files = kFiles;
        unwind_table::SharedRules shared;
        executable::Catalog catalog;
        UnwindFeed feed(kernel, shared, catalog, 8 * kBucketChargeBytes);
        nanoseconds now = seconds{1000};
        for (std::uint32_t id = 2; id < 9; ++id) {
            executable::BuiltExecutable built;
            built.key.inode = id;
            built.executable.id = id;
            built.table.emplace();
            built.table->words.assign(16, id);
            ASSERT_TRUE(feed.publish(std::move(built), now).has_value());
        }
        kernel.fail_call(failing);
        for (int second = 0; second < 5; ++second) {
            now += seconds{10};
            feed.note_counted_until(now);
            feed.look_again(now);
        }
        EXPECT_LE(kernel.files.size(), 5U) << "one that could not be forgotten may stay";
        EXPECT_EQ(kernel.files.size() + kernel.free_ids.size(), 7U);
        for (const std::uint32_t id : kernel.free_ids) {
            EXPECT_EQ(std::ranges::count(kernel.free_ids, id), 1) << id;
            EXPECT_FALSE(kernel.files.contains(id - kNext)) << id;
        }
        for (const auto& [inode, entry] : kernel.files) {
            EXPECT_EQ(entry.state, feed.state_of(entry.executable_id)) << inode;
            EXPECT_NE(entry.state, std::uint32_t{abi::FILE_NO_ROOM}) << inode;
        }
        if (kernel.calls_until_failure) {
            EXPECT_GT(failing, 12U) << "fewer calls than it takes";
            break;
        }
        EXPECT_EQ(feed.counts().failed_calls, 1U);
    }
}

}  // namespace
}  // namespace bobbin::unwind_feed
