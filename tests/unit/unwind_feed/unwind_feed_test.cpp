// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/unwind_feed.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bobbin::unwind_feed {
namespace {

// Writes down what it is told, in order.
class FakeKernelTables final : public KernelTables {
public:
    Result<> write_words(std::uint32_t first_word, std::span<const std::uint32_t> words) override {
        if (refuses_words) return fail("no memory");
        calls.push_back("words");
        first_words.push_back(first_word);
        word_counts.push_back(words.size());
        return {};
    }
    Result<> write_special_rules(std::uint32_t first_index,
                                 std::span<const abi::special_rule> rules) override {
        calls.push_back("rules");
        rules_end = first_index + rules.size();
        return {};
    }
    Result<> write_macros(std::uint32_t first_index, std::span<const abi::macro> macros) override {
        calls.push_back("macros");
        macros_end = first_index + macros.size();
        return {};
    }
    Result<> set_executable(std::uint32_t executable_id,
                            const abi::executable& executable) override {
        calls.push_back("executable");
        last_executable_id = executable_id;
        last_executable = executable;
        return {};
    }
    Result<> set_file(const abi::file_key& key, const abi::file_entry& entry) override {
        calls.push_back("file");
        last_key = key;
        last_entry = entry;
        return {};
    }

    bool refuses_words = false;
    std::vector<std::string> calls;
    std::vector<std::uint32_t> first_words;
    std::vector<std::size_t> word_counts;
    std::size_t rules_end = 0;
    std::size_t macros_end = 0;
    std::uint32_t last_executable_id = 0;
    abi::executable last_executable{};
    abi::file_key last_key{};
    abi::file_entry last_entry{};
};

executable::BuiltExecutable built(std::uint32_t id, std::size_t lines) {
    executable::BuiltExecutable result;
    result.key.inode = 1000 + id;
    result.executable.id = id;
    result.executable.path = "/bin/x";
    if (lines > 0) {
        result.table.emplace();
        result.table->words.resize(lines * abi::TABLE_ALIGNMENT_WORDS);
        result.table->base_file_offset = 0x10000;
        result.table->granule_count = 5;
        result.table->granule_shift = 9;
    } else {
        result.executable.refused = "no .eh_frame";
    }
    return result;
}

class UnwindFeedTest : public testing::Test {
protected:
    FakeKernelTables kernel_;
    unwind_table::SharedRules shared_;
    executable::Catalog catalog_;
    UnwindFeed feed_{kernel_, shared_, catalog_};
};

TEST_F(UnwindFeedTest, LetsAProgramLookOnlyWhenEverythingElseIsThere) {
    ASSERT_TRUE(feed_.publish(built(7, 1)).has_value());
    EXPECT_EQ(kernel_.calls,
              (std::vector<std::string>{"rules", "macros", "words", "executable", "file"}));
    EXPECT_EQ(kernel_.last_entry.state, abi::FILE_READY);
    EXPECT_EQ(kernel_.last_entry.executable_id, 7U);
    EXPECT_EQ(kernel_.last_key.inode, 1007U);
    EXPECT_EQ(kernel_.last_executable.base_file_offset, 0x10000U);
    EXPECT_EQ(kernel_.last_executable.granule_count, 5U);
    EXPECT_EQ(kernel_.last_executable.granule_shift, 9U);
    EXPECT_NE(catalog_.find(7), nullptr);
}

TEST_F(UnwindFeedTest, PutsTablesOneBehindTheOther) {
    for (const std::uint32_t id : {2U, 3U, 4U}) {
        ASSERT_TRUE(feed_.publish(built(id, id)).has_value());
    }
    EXPECT_EQ(kernel_.first_words, (std::vector<std::uint32_t>{0, 2 * 16, 5 * 16}));
    EXPECT_EQ(kernel_.last_executable.first_word, 5U * 16);
    EXPECT_EQ(feed_.table_bytes(), 9U * 64);
}

TEST_F(UnwindFeedTest, TellsTheKernelOfRefusedFilesSoThatTheyAreNotAnnouncedAgain) {
    ASSERT_TRUE(feed_.publish(built(7, 0)).has_value());
    EXPECT_EQ(kernel_.calls, std::vector<std::string>{"file"});
    EXPECT_EQ(kernel_.last_entry.state, abi::FILE_REFUSED);
    EXPECT_EQ(catalog_.find(7)->refused, "no .eh_frame");
}

TEST_F(UnwindFeedTest, RefusesATableThatFindsNoRoomAndSaysSo) {
    kernel_.refuses_words = true;
    ASSERT_TRUE(feed_.publish(built(7, 1)).has_value());
    EXPECT_EQ(kernel_.last_entry.state, abi::FILE_REFUSED);
    EXPECT_EQ(catalog_.find(7)->refused, "no memory");
    kernel_.refuses_words = false;
    ASSERT_TRUE(feed_.publish(built(8, 1)).has_value());
    EXPECT_EQ(kernel_.first_words, std::vector<std::uint32_t>{0}) << "its room is not lost";
}

TEST_F(UnwindFeedTest, RefusesWhatDoesNotFitThePool) {
    const std::size_t all_lines =
        std::size_t{abi::MAX_BUCKETS} * abi::BUCKET_WORDS / abi::TABLE_ALIGNMENT_WORDS;
    ASSERT_TRUE(feed_.publish(built(2, all_lines)).has_value());
    ASSERT_TRUE(feed_.publish(built(3, 1)).has_value());
    EXPECT_EQ(kernel_.last_entry.state, abi::FILE_REFUSED);
    EXPECT_NE(catalog_.find(3)->refused.find("256 MiB"), std::string::npos);
}

TEST_F(UnwindFeedTest, WritesEachSpecialRuleOnce) {
    ASSERT_TRUE(
        shared_.specials.index_of({.cfa = abi::SPECIAL_CFA_PLT, .cfa_offset = 11}).has_value());
    ASSERT_TRUE(feed_.publish(built(2, 1)).has_value());
    const std::size_t after_first = kernel_.rules_end;
    ASSERT_TRUE(feed_.publish(built(3, 1)).has_value());
    EXPECT_EQ(after_first, 2U) << "index 0 and the PLT rule";
    EXPECT_EQ(kernel_.rules_end, after_first);
}

TEST_F(UnwindFeedTest, WritesEachMacroOnce) {
    const std::array<unwind_table::Run, 2> runs = {{{0, 1}, {1, 2}}};
    const std::array windows = {unwind_table::RunWindow{runs, 77}};
    shared_.macros.add_of_one_file(windows);
    ASSERT_TRUE(feed_.publish(built(2, 1)).has_value());
    EXPECT_EQ(kernel_.macros_end, 1U);
    const std::array<unwind_table::Run, 2> other_runs = {{{0, 1}, {1, 3}}};
    const std::array more = {unwind_table::RunWindow{other_runs, 78}};
    shared_.macros.add_of_one_file(more);
    ASSERT_TRUE(feed_.publish(built(3, 1)).has_value());
    EXPECT_EQ(kernel_.macros_end, 2U);
}

TEST_F(UnwindFeedTest, HasAFileThatWasGoneAnnouncedAgain) {
    abi::announcement announcement{};
    announcement.executable_id = 9;
    announcement.key.inode = 77;
    ASSERT_TRUE(feed_.forget(announcement).has_value());
    EXPECT_EQ(kernel_.last_entry.state, abi::FILE_UNANNOUNCED);
    EXPECT_EQ(kernel_.last_entry.executable_id, 9U);
    EXPECT_EQ(kernel_.last_key.inode, 77U);
}

TEST_F(UnwindFeedTest, GivesTheVdsoNoInode) {
    ASSERT_TRUE(feed_.publish(built(EXECUTABLE_ID_VDSO, 1)).has_value());
    EXPECT_EQ(kernel_.calls, (std::vector<std::string>{"rules", "macros", "words", "executable"}));
}

}  // namespace
}  // namespace bobbin::unwind_feed
