// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/unwind_feed.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "executable/held_file.h"
#include "fake_kernel_tables.h"

namespace bobbin::unwind_feed {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t kBucket = abi::BUCKET_WORDS;
constexpr nanoseconds kStart = seconds{1000};

// A table of `words`, each of which is the id.
executable::BuiltExecutable built(std::uint32_t id, std::size_t words) {
    executable::BuiltExecutable result;
    result.key.inode = 1000 + id;
    result.executable.id = id;
    result.executable.path = "/bin/x";
    if (words > 0) {
        result.table.emplace();
        result.table->words.assign(words, id);
        result.table->base_file_offset = 0x10000;
        result.table->granule_count = 5;
        result.table->granule_shift = 9;
    } else {
        result.executable.refused = "no .eh_frame";
    }
    return result;
}

std::vector<abi::frame_word> frames_of(std::uint32_t id) {
    return {abi::frame_word{id} << FRAME_EXECUTABLE_SHIFT | 0x10};
}

class UnwindFeedTest : public testing::Test {
protected:
    explicit UnwindFeedTest(std::size_t buckets = 255)
        : feed_(kernel_, shared_, catalog_, buckets * kBucketChargeBytes) {}

    bool publish(std::uint32_t id, std::size_t words) {
        return feed_.publish(built(id, words), now_).has_value();
    }
    abi::file_state state_of(std::uint32_t id) {
        const auto state = static_cast<abi::file_state>(kernel_.files[1000 + id].state);
        EXPECT_EQ(state, feed_.state_of(id));
        return state;
    }
    // What a walk would do with `id`: its table's words, if it may look.
    void expect_readable(std::uint32_t id, std::size_t words) {
        if (state_of(id) != abi::FILE_READY) return;
        const abi::executable& executable = kernel_.executables[id];
        ASSERT_EQ(executable.is_ready, 1U) << id;
        for (std::size_t i = 0; i < words; i += 997) {
            ASSERT_EQ(kernel_.word(executable.first_word + i), id) << "word " << i;
        }
    }
    void sample(std::uint32_t id, int times = 1) {
        for (int i = 0; i < times; ++i) {
            feed_.last_sampled().note(frames_of(id), now_);
        }
    }

    FakeKernelTables kernel_;
    unwind_table::SharedRules shared_;
    executable::Catalog catalog_;
    UnwindFeed feed_;
    nanoseconds now_ = kStart;
};

TEST_F(UnwindFeedTest, LetsAProgramLookOnlyWhenEverythingElseIsThere) {
    ASSERT_TRUE(publish(7, 16));
    EXPECT_EQ(kernel_.calls,
              (std::vector<std::string>{"add bucket", "rules", "words", "executable", "file"}));
    EXPECT_EQ(state_of(7), abi::FILE_READY);
    EXPECT_EQ(kernel_.files[1007].executable_id, 7U);
    EXPECT_EQ(kernel_.executables[7].base_file_offset, 0x10000U);
    EXPECT_EQ(kernel_.executables[7].granule_count, 5U);
    EXPECT_EQ(kernel_.executables[7].granule_shift, 9U);
    EXPECT_EQ(kernel_.executables[7].is_ready, 1U);
    EXPECT_NE(catalog_.find(7), nullptr);
}

TEST_F(UnwindFeedTest, PutsTablesOneBehindTheOther) {
    for (const std::uint32_t id : {2U, 3U, 4U}) ASSERT_TRUE(publish(id, 16 * id));
    EXPECT_EQ(kernel_.executables[2].first_word, 0U);
    EXPECT_EQ(kernel_.executables[3].first_word, 2U * 16);
    EXPECT_EQ(kernel_.executables[4].first_word, 5U * 16);
    EXPECT_EQ(feed_.table_bytes(), 9U * 64);
}

TEST_F(UnwindFeedTest, TellsTheKernelOfRefusedFilesSoThatTheyAreNotAnnouncedAgain) {
    ASSERT_TRUE(publish(7, 0));
    EXPECT_EQ(kernel_.calls, std::vector<std::string>{"file"});
    EXPECT_EQ(state_of(7), abi::FILE_REFUSED);
    EXPECT_EQ(catalog_.find(7)->refused, "no .eh_frame");
}

TEST_F(UnwindFeedTest, WritesEachSpecialRuleOnce) {
    ASSERT_EQ(shared_.specials.index_of({.cfa = abi::SPECIAL_CFA_PLT, .cfa_offset = 11}), 1);
    ASSERT_TRUE(publish(2, 16));
    EXPECT_EQ(kernel_.rules.size(), 2U) << "index 0 and the PLT rule";
    EXPECT_EQ(kernel_.rules[1].cfa, abi::SPECIAL_CFA_PLT);
    kernel_.rules.clear();
    ASSERT_TRUE(publish(3, 16));
    EXPECT_TRUE(kernel_.rules.empty());
}

TEST_F(UnwindFeedTest, WritesEachMacroOnce) {
    const std::array<unwind_table::Run, 2> runs = {{{0, 1}, {1, 2}}};
    const std::array windows = {unwind_table::RunWindow{runs, 77}};
    shared_.macros.add_of_one_file(windows);
    ASSERT_TRUE(publish(2, 16));
    EXPECT_EQ(kernel_.macros[0].codes[1], 2);
    const std::array<unwind_table::Run, 2> other_runs = {{{0, 1}, {1, 3}}};
    const std::array more = {unwind_table::RunWindow{other_runs, 78}};
    shared_.macros.add_of_one_file(more);
    kernel_.macros.erase(0);
    ASSERT_TRUE(publish(3, 16));
    EXPECT_EQ(kernel_.macros.size(), 1U);
    EXPECT_EQ(kernel_.macros[1].codes[1], 3);
}

TEST_F(UnwindFeedTest, HasAFileThatWasGoneAnnouncedAgain) {
    abi::announcement announcement{};
    announcement.executable_id = 9;
    announcement.key.inode = 1009;
    ASSERT_TRUE(feed_.forget(announcement).has_value());
    EXPECT_EQ(state_of(9), abi::FILE_UNANNOUNCED);
    EXPECT_EQ(kernel_.files[1009].executable_id, 9U);
}

TEST_F(UnwindFeedTest, GivesTheVdsoNoInode) {
    ASSERT_TRUE(publish(EXECUTABLE_ID_VDSO, 16));
    EXPECT_TRUE(kernel_.files.empty());
    EXPECT_EQ(kernel_.executables[EXECUTABLE_ID_VDSO].is_ready, 1U);
}

TEST_F(UnwindFeedTest, KeepsTheTableThatIsThereWhenAFileWasAnnouncedTwice) {
    ASSERT_TRUE(publish(7, 16));
    ASSERT_TRUE(publish(7, 16));
    EXPECT_EQ(feed_.table_bytes(), 64U);
    EXPECT_EQ(state_of(7), abi::FILE_READY);
}

// What a memfd is from the beginning: a file that no name leads to.
executable::BuiltExecutable built_of_gone_file(std::uint32_t id, std::size_t words) {
    executable::BuiltExecutable result = built(id, words);
    result.executable.file = std::make_shared<executable::HeldFile>(
        UniqueFd(::memfd_create("gone", MFD_CLOEXEC)), "/gone");
    return result;
}

TEST_F(UnwindFeedTest, LetsGoOfTablesOfFilesThatAreGoneAndNoLongerSampled) {
    for (const std::uint32_t id : {2U, 3U}) {
        ASSERT_TRUE(feed_.publish(built_of_gone_file(id, kBucket), now_).has_value());
    }
    ASSERT_TRUE(publish(4, kBucket));
    for (int second = 0; second < 10; ++second) {
        sample(3);
        feed_.look_again(now_ += seconds{1});
    }
    EXPECT_EQ(state_of(2), abi::FILE_UNANNOUNCED) << "who maps it yet announces it again";
    EXPECT_EQ(kernel_.executables[2].is_ready, 0U);
    EXPECT_EQ(state_of(3), abi::FILE_READY) << "sampled all the time";
    EXPECT_EQ(state_of(4), abi::FILE_READY) << "a file that nothing is known of";
    EXPECT_EQ(feed_.counts().tables_of_gone_files, 1U);
    EXPECT_EQ(feed_.counts().tables_left, 0U) << "nobody needed the room";
    EXPECT_EQ(feed_.table_bytes(), 2 * kBucket * 4);
    expect_readable(3, kBucket);
    expect_readable(4, kBucket);
}

TEST_F(UnwindFeedTest, GivesTheBucketsOfGoneFilesBack) {
    for (std::uint32_t id = 2; id < 22; ++id) {
        ASSERT_TRUE(feed_.publish(built_of_gone_file(id, kBucket), now_).has_value());
    }
    for (int second = 0; second < 20; ++second) feed_.look_again(now_ += seconds{1});
    EXPECT_EQ(feed_.table_bytes(), 0U);
    EXPECT_EQ(kernel_.buckets.size(), 1U) << "one is kept for what comes next";
}

// A service whose file an upgrade has replaced may sleep and wake for years.
TEST_F(UnwindFeedTest, TakesTheTableOfAGoneFileBackThatIsSampledAgain) {
    int built_count = 0;
    for (int second = 0; second < 500; ++second) {
        if (second % 10 == 0) sample(2);
        if (second == 0 || (second % 10 == 0 && state_of(2) == abi::FILE_UNANNOUNCED)) {
            ASSERT_TRUE(feed_.publish(built_of_gone_file(2, 3 * kBucket), now_).has_value());
            ++built_count;
        }
        feed_.look_again(now_ += seconds{1});
    }
    // 786,432 words take 189 ms to build. 1 % of one CPU are 5 s here, and 0.2 s are free: 27.
    EXPECT_GE(built_count, 15);
    EXPECT_LE(built_count, 28);
}

executable::BuiltExecutable with_content(executable::BuiltExecutable built, std::uint64_t content) {
    built.content =
        executable::ContentKey{.build_id = {}, .size_bytes = 1, .unwind_hash = {content}};
    return built;
}

// What a builder makes of a file whose content it finds among the known ones.
executable::BuiltExecutable copy_of_content(std::uint32_t id, std::uint64_t content) {
    auto copy = with_content(built(id, 0), content);
    copy.executable.refused.clear();
    return copy;
}

TEST_F(UnwindFeedTest, GivesFilesWithTheSameContentOneTable) {
    ASSERT_TRUE(feed_.publish(with_content(built(2, 160), 77), now_).has_value());
    ASSERT_TRUE(feed_.publish(with_content(built(3, 160), 77), now_).has_value());
    ASSERT_TRUE(feed_.publish(copy_of_content(4, 77), now_).has_value());
    EXPECT_EQ(feed_.table_bytes(), 160U * 4);
    for (const std::uint32_t id : {2U, 3U, 4U}) {
        EXPECT_EQ(state_of(id), abi::FILE_READY);
        EXPECT_EQ(kernel_.executables[id].first_word, kernel_.executables[2].first_word);
        EXPECT_EQ(kernel_.executables[id].granule_count, 5U);
        EXPECT_NE(catalog_.find(id), nullptr) << "each has its own name";
    }
    ASSERT_TRUE(feed_.publish(with_content(built(5, 160), 78), now_).has_value());
    EXPECT_EQ(feed_.table_bytes(), 2 * 160U * 4) << "another content";
    expect_readable(5, 160);
}

TEST_F(UnwindFeedTest, HasACopyAnnouncedAgainWhoseTableHasLeft) {
    ASSERT_TRUE(feed_.publish(copy_of_content(4, 77), now_).has_value());
    EXPECT_EQ(state_of(4), abi::FILE_UNANNOUNCED);
}

// Room for two buckets.
class SmallUnwindFeedTest : public UnwindFeedTest {
protected:
    SmallUnwindFeedTest() : UnwindFeedTest(2) {}
};

TEST_F(SmallUnwindFeedTest, FreesWordsOnlyWhenNoWalkCanSeeThemAnyMore) {
    ASSERT_TRUE(publish(2, kBucket) && publish(3, kBucket));
    now_ += seconds{60};
    sample(3);
    kernel_.calls.clear();
    ASSERT_TRUE(publish(4, kBucket));
    // State and mark of the one that goes, the grace period, and only then its words.
    EXPECT_EQ(kernel_.calls, (std::vector<std::string>{"file", "executable", "void remembered",
                                                       "wait", "words", "executable", "file"}));
    EXPECT_EQ(state_of(2), abi::FILE_UNANNOUNCED) << "its next sample announces it";
    EXPECT_EQ(kernel_.executables[2].is_ready, 0U);
    EXPECT_EQ(state_of(3), abi::FILE_READY);
    EXPECT_EQ(state_of(4), abi::FILE_READY);
    expect_readable(3, kBucket);
    expect_readable(4, kBucket);
    EXPECT_EQ(kernel_.most_buckets, 2U);
    EXPECT_EQ(feed_.counts().peak_bytes, 2 * kBucketChargeBytes);
}

TEST_F(SmallUnwindFeedTest, KeepsATableAsLongAsOneOfItsFilesIsSampled) {
    ASSERT_TRUE(feed_.publish(with_content(built(2, kBucket), 77), now_).has_value());
    ASSERT_TRUE(feed_.publish(copy_of_content(3, 77), now_).has_value());
    ASSERT_TRUE(publish(4, kBucket));
    now_ += seconds{60};
    sample(3);
    ASSERT_TRUE(publish(5, kBucket));
    EXPECT_EQ(state_of(4), abi::FILE_UNANNOUNCED) << "the only one that nobody samples";
    for (const std::uint32_t id : {2U, 3U, 5U}) EXPECT_EQ(state_of(id), abi::FILE_READY) << id;
    EXPECT_EQ(kernel_.word(kernel_.executables[3].first_word), 2U) << "as it was written for 2";
}

TEST_F(SmallUnwindFeedTest, TakesATableAwayFromAllItsFilesAtOnce) {
    ASSERT_TRUE(feed_.publish(with_content(built(2, kBucket), 77), now_).has_value());
    ASSERT_TRUE(feed_.publish(copy_of_content(3, 77), now_).has_value());
    ASSERT_TRUE(publish(4, kBucket));
    now_ += seconds{60};
    sample(4);
    ASSERT_TRUE(publish(5, kBucket));
    for (const std::uint32_t id : {2U, 3U}) {
        EXPECT_EQ(state_of(id), abi::FILE_UNANNOUNCED) << id;
        EXPECT_EQ(kernel_.executables[id].is_ready, 0U) << id;
    }
    expect_readable(4, kBucket);
    expect_readable(5, kBucket);
    EXPECT_EQ(feed_.counts().tables_left, 1U);
    EXPECT_EQ(feed_.table_bytes(), 2 * kBucket * 4);
    // The content is known no more: whoever comes with it brings words.
    ASSERT_TRUE(feed_.publish(copy_of_content(3, 77), now_).has_value());
    EXPECT_EQ(state_of(3), abi::FILE_UNANNOUNCED);
}

TEST_F(SmallUnwindFeedTest, LetsTheOneLeaveThatWasSampledLongestAgo) {
    ASSERT_TRUE(publish(2, kBucket) && publish(3, kBucket));
    now_ += seconds{60};
    sample(2);
    now_ += seconds{2};
    ASSERT_TRUE(publish(4, kBucket));
    EXPECT_EQ(state_of(2), abi::FILE_READY);
    EXPECT_EQ(state_of(3), abi::FILE_UNANNOUNCED);
}

TEST_F(SmallUnwindFeedTest, LeavesOutWhatIsNotWorthTheRoomAndSaysSo) {
    ASSERT_TRUE(publish(2, kBucket) && publish(3, kBucket));
    sample(2, 100);
    sample(3, 100);
    sample(4);
    ASSERT_TRUE(publish(4, kBucket));
    EXPECT_EQ(state_of(4), abi::FILE_NO_ROOM);
    EXPECT_EQ(state_of(2), abi::FILE_READY);
    EXPECT_EQ(state_of(3), abi::FILE_READY);
    ASSERT_NE(catalog_.find(4), nullptr) << "its frames have names all the same";
    EXPECT_TRUE(catalog_.find(4)->refused.empty()) << "nothing is wrong with the file";
    EXPECT_EQ(feed_.counts().tables_left_out, 1U);
}

TEST_F(SmallUnwindFeedTest, AsksBackWhatBecameWorthTheRoom) {
    ASSERT_TRUE(publish(2, kBucket) && publish(3, kBucket));
    sample(2, 100);
    sample(3, 100);
    ASSERT_TRUE(publish(4, kBucket));
    ASSERT_EQ(state_of(4), abi::FILE_NO_ROOM);
    now_ += seconds{30};
    sample(2, 100);
    sample(4, 100);
    feed_.look_again(now_);
    EXPECT_EQ(state_of(4), abi::FILE_UNANNOUNCED);
    ASSERT_TRUE(publish(4, kBucket));
    EXPECT_EQ(state_of(4), abi::FILE_READY);
    EXPECT_EQ(state_of(3), abi::FILE_UNANNOUNCED);
    EXPECT_EQ(feed_.counts().tables_built_again, 1U);
}

TEST_F(SmallUnwindFeedTest, AsksNothingBackThatNobodySamples) {
    ASSERT_TRUE(publish(2, kBucket) && publish(3, kBucket) && publish(4, kBucket));
    ASSERT_EQ(state_of(4), abi::FILE_NO_ROOM);
    for (int i = 0; i < 100; ++i) feed_.look_again(now_ += seconds{1});
    EXPECT_EQ(state_of(4), abi::FILE_NO_ROOM);
}

// Four equally hot programs, room for two: two stay whole, and building again costs next to
// nothing.
TEST_F(SmallUnwindFeedTest, DoesNotBuildForEverWhatDoesNotFit) {
    for (std::uint32_t id = 2; id < 6; ++id) ASSERT_TRUE(publish(id, kBucket));
    int built_count = 0;
    for (int second = 0; second < 1000; ++second) {
        now_ += seconds{1};
        for (std::uint32_t id = 2; id < 6; ++id) {
            // 20 a second, give or take.
            sample(id, 17 + (second * 7 + static_cast<int>(id) * 3) % 7);
            if (state_of(id) != abi::FILE_UNANNOUNCED) continue;
            ASSERT_TRUE(publish(id, kBucket));
            ++built_count;
        }
        feed_.look_again(now_);
    }
    EXPECT_LE(built_count, 2) << "those that were not sampled yet when two others came";
    EXPECT_EQ(kernel_.most_buckets, 2U);
}

// Ten programs take turns, so that each is cold when it comes again. 262,144 words take 63 ms to
// build, and each turn would want one of them.
TEST_F(SmallUnwindFeedTest, BoundsWhatBuildingAgainCosts) {
    std::size_t built_count = 0;
    for (std::uint32_t id = 2; id < 12; ++id) ASSERT_TRUE(publish(id, kBucket));
    for (int second = 0; second < 4'000; ++second) {
        now_ += seconds{1};
        const auto id = static_cast<std::uint32_t>(2 + second / 4 % 10);
        sample(id, 50);
        if (state_of(id) == abi::FILE_UNANNOUNCED) {
            ASSERT_TRUE(publish(id, kBucket));
            ++built_count;
        }
        feed_.look_again(now_);
    }
    // 1 % of 4,000 s are 40 s, or 634 tables; 200 ms more at the start, and one on credit.
    EXPECT_LE(built_count, 640U);
    EXPECT_GE(built_count, 400U) << "but as many as may be";
}

TEST_F(SmallUnwindFeedTest, NeverRefusesTheVdsoOnceItIsThere) {
    ASSERT_TRUE(publish(EXECUTABLE_ID_VDSO, 16) && publish(3, kBucket));
    now_ += seconds{600};
    ASSERT_TRUE(publish(4, kBucket));
    EXPECT_EQ(kernel_.executables[EXECUTABLE_ID_VDSO].is_ready, 1U);
    EXPECT_EQ(state_of(4), abi::FILE_READY);
}

TEST_F(SmallUnwindFeedTest, GivesBucketsBackToTheKernel) {
    ASSERT_TRUE(publish(2, 2 * kBucket));
    now_ += seconds{60};
    ASSERT_TRUE(publish(3, 16));
    EXPECT_EQ(kernel_.buckets.size(), 2U);
    ASSERT_EQ(state_of(3), abi::FILE_READY);
    now_ += seconds{60};
    ASSERT_TRUE(publish(4, 2 * kBucket - 16));
    now_ += seconds{60};
    ASSERT_TRUE(publish(5, kBucket));
    EXPECT_EQ(kernel_.most_buckets, 2U);
    feed_.look_again(now_);
    EXPECT_LE(kernel_.buckets.size(), 2U);
    expect_readable(5, kBucket);
}

// 3 and 4 fit together, 2 has to leave for them; 5 has no table. Samples go on, and each file that
// is announced again is built again.
constexpr std::array<std::size_t, 6> kWordsById = {0, 0, kBucket, kBucket / 2, kBucket, 0};

void expect_only_whole_tables_are_ready(FakeKernelTables& kernel) {
    for (const std::uint32_t id : {2U, 3U, 4U}) {
        if (kernel.files[1000 + id].state != abi::FILE_READY) continue;
        const abi::executable& executable = kernel.executables[id];
        ASSERT_EQ(executable.is_ready, 1U);
        ASSERT_EQ(kernel.word(executable.first_word), id);
        ASSERT_EQ(kernel.word(executable.first_word + kWordsById.at(id) - 1), id);
    }
}

void run_through(FakeKernelTables& kernel, UnwindFeed& feed) {
    nanoseconds now = kStart;
    const auto publish = [&](std::uint32_t id) {
        (void)feed.publish(built(id, kWordsById.at(id)), now);
    };
    publish(2);
    publish(3);
    now += seconds{60};
    publish(4);
    publish(5);
    for (int second = 0; second < 200; ++second) {
        now += seconds{1};
        for (const std::uint32_t id : {3U, 4U}) {
            feed.last_sampled().note(frames_of(id), now);
            if (kernel.files[1000 + id].state == abi::FILE_UNANNOUNCED) publish(id);
        }
        feed.look_again(now);
        expect_only_whole_tables_are_ready(kernel);
    }
}

// Whichever call fails, and whatever is tried afterwards: no table is read that is not whole, the
// budget holds, nothing is lost for good.
TEST(UnwindFeed, SurvivesAFailureOfEachCall) {
    for (std::size_t failing = 0;; ++failing) {
        SCOPED_TRACE("call " + std::to_string(failing));
        FakeKernelTables kernel;
        unwind_table::SharedRules shared;
        executable::Catalog catalog;
        UnwindFeed feed(kernel, shared, catalog, 2 * kBucketChargeBytes);
        kernel.fail_call(failing);
        run_through(kernel, feed);
        EXPECT_LE(kernel.most_buckets, 2U);
        EXPECT_EQ(kernel.files[1003].state, abi::FILE_READY);
        EXPECT_EQ(kernel.files[1004].state, abi::FILE_READY);
        EXPECT_EQ(kernel.files[1005].state, abi::FILE_REFUSED);
        if (kernel.calls_until_failure) {
            EXPECT_GT(failing, 12U) << "fewer calls than it takes";
            break;
        }
        EXPECT_EQ(feed.counts().failed_calls, 1U);
    }
}

TEST_F(SmallUnwindFeedTest, GoesOnWhenTheKernelHasNoMemoryForAWhile) {
    kernel_.fails_always = true;
    EXPECT_FALSE(publish(2, kBucket)) << "not even the state could be told";
    for (int i = 0; i < 10; ++i) feed_.look_again(now_ += seconds{1});
    EXPECT_TRUE(kernel_.files.empty());
    kernel_.fails_always = false;
    feed_.look_again(now_ += seconds{1});
    EXPECT_EQ(state_of(2), abi::FILE_NO_ROOM);
    sample(2);
    feed_.look_again(now_ += seconds{1});
    EXPECT_EQ(state_of(2), abi::FILE_UNANNOUNCED);
    ASSERT_TRUE(publish(2, kBucket));
    EXPECT_EQ(state_of(2), abi::FILE_READY);
    EXPECT_GE(feed_.counts().failed_calls, 10U);
}

}  // namespace
}  // namespace bobbin::unwind_feed
