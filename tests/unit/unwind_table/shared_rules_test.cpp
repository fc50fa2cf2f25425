// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/shared_rules.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "unit/unwind_table/table_reference.h"

namespace bobbin::unwind_table {
namespace {

using test::rsp_plus;
using RunList = std::vector<Run>;  // within a TEST, Run is googletest's

RunWindow window_of(const RunList& runs) {
    RunFingerprint fingerprint(runs[0]);
    for (std::size_t i = 1; i < runs.size(); ++i) fingerprint.extend(runs[i - 1], runs[i]);
    return {runs, fingerprint.value()};
}

void teach(SharedRules& shared, const RunList& runs) {
    const std::vector windows = {window_of(runs)};
    shared.macros.add_of_one_file(windows);
}

// Codes as the kernel reads them: a special's index in the low 11 bits and in bit 14.
std::uint16_t special_code(std::uint16_t index) {
    return static_cast<std::uint16_t>(abi::CODE_SPECIAL | (index & 0x7ff) |
                                      (index > 0x7ff ? abi::CODE_BASE_RBP : 0));
}
std::uint32_t entry(std::uint32_t code) { return 0x12340000 | code; }

TEST(SharedRules, KeepsWhatATableNamesAndForgetsTheRest) {
    SharedRules shared;
    const RunList kept = {{0, 1}, {1, 2}};
    const RunList lost = {{0, 1}, {1, 3}};
    teach(shared, kept);
    teach(shared, lost);
    ASSERT_EQ(shared.specials.index_of(rsp_plus(1)), 1);
    ASSERT_EQ(shared.specials.index_of(rsp_plus(2)), 2);
    const std::vector words = {entry(abi::CODE_MACRO | 0), entry(7), entry(special_code(2))};
    const auto held = shared.hold(words);
    ASSERT_TRUE(shared.forget_unused());
    EXPECT_EQ(shared.macros.find(window_of(kept)), 0);
    EXPECT_FALSE(shared.macros.find(window_of(lost)));
    EXPECT_EQ(shared.macros.live_count(), 1U);
    EXPECT_EQ(shared.specials.index_of(rsp_plus(2)), 2);
    EXPECT_EQ(shared.specials.index_of(rsp_plus(3)), 1) << "it has the index that was free again";
    EXPECT_EQ(shared.specials.index_of(abi::special_rule{}), 0) << "which never goes";
}

TEST(SharedRules, KeepsARuleAsLongAsOneOfItsTablesIsThere) {
    SharedRules shared;
    const RunList runs = {{0, 1}, {1, 2}};
    teach(shared, runs);
    const std::vector words = {entry(abi::CODE_MACRO | 0)};
    auto first = std::optional(shared.hold(words));
    auto second = std::optional(shared.hold(words));
    first.reset();
    ASSERT_TRUE(shared.forget_unused());
    EXPECT_TRUE(shared.macros.find(window_of(runs)));
    second.reset();
    ASSERT_TRUE(shared.forget_unused());
    EXPECT_FALSE(shared.macros.find(window_of(runs)));
}

TEST(SharedRules, KeepsSpecialsThatOnlyAMacroNames) {
    SharedRules shared;
    for (std::int32_t i = 1; i <= 3000; ++i) ASSERT_TRUE(shared.specials.index_of(rsp_plus(i)));
    const RunList runs = {{0, special_code(3)}, {5, 9}, {9, special_code(2900)}};
    teach(shared, runs);
    const std::vector words = {entry(abi::CODE_MACRO | 0)};
    const auto held = shared.hold(words);
    ASSERT_TRUE(shared.forget_unused());
    EXPECT_EQ(shared.specials.live_count(), 3U) << "those two and index 0";
    EXPECT_EQ(shared.specials.index_of(rsp_plus(3)), 3);
    EXPECT_EQ(shared.specials.index_of(rsp_plus(2900)), 2900);
}

TEST(SharedRules, ForgetsNothingWhileATableIsBuilt) {
    SharedRules shared;
    const RunList runs = {{0, 1}, {1, 2}};
    teach(shared, runs);
    {
        const std::shared_lock building(shared.building);
        EXPECT_FALSE(shared.forget_unused()) << "it may have found the macro already";
        EXPECT_TRUE(shared.macros.find(window_of(runs)));
    }
    EXPECT_TRUE(shared.forget_unused());
}

TEST(SharedRules, SaysWhatWasAddedUnderWhichIndex) {
    SharedRules shared;
    EXPECT_EQ(shared.specials.take_added().size(), 1U) << "index 0";
    teach(shared, {{0, 1}, {1, 2}});
    teach(shared, {{0, 1}, {1, 3}});
    EXPECT_EQ(shared.macros.take_added().size(), 2U);
    ASSERT_TRUE(shared.forget_unused());
    teach(shared, {{0, 1}, {1, 4}});
    const auto added = shared.macros.take_added();
    ASSERT_EQ(added.size(), 1U);
    EXPECT_LT(added[0].index, 2) << "an index from before";
    EXPECT_EQ(added[0].macro.codes[1], 4);
    EXPECT_TRUE(shared.macros.take_added().empty());
}

// A dictionary that was full of another machine's idioms serves the next as if it were new.
TEST(SharedRules, FindsAgainAllThatItKeeps) {
    SharedRules shared;
    std::vector<RunList> all;
    for (std::uint16_t i = 0; i < 8000; ++i) {
        RunList runs;
        for (std::uint32_t k = 0; k < 2U + i % 8; ++k) {
            runs.push_back({k * 3, static_cast<std::uint16_t>((i * 31 + k * 7) & 0x7ff)});
        }
        all.push_back(runs);
        teach(shared, runs);
    }
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < all.size(); i += 3) {
        const auto index = shared.macros.find(window_of(all[i]));
        ASSERT_TRUE(index) << i;
        words.push_back(entry(abi::CODE_MACRO | *index));
    }
    const auto held = shared.hold(words);
    ASSERT_TRUE(shared.forget_unused());
    for (std::size_t i = 0; i < all.size(); i += 3) {
        const auto index = shared.macros.find(window_of(all[i]));
        ASSERT_TRUE(index) << i;
        EXPECT_EQ(entry(abi::CODE_MACRO | *index), words[i / 3]) << "under the index it had";
        EXPECT_TRUE(shared.macros.may_begin_with(window_of(all[i]).fingerprint));
    }
}

}  // namespace
}  // namespace bobbin::unwind_table
