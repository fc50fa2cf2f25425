// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/fold_runs.h"

#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "unit/unwind_table/table_reference.h"

namespace bobbin::unwind_table {
namespace {

using RunList = std::vector<Run>;  // within a TEST, Run is googletest's

constexpr std::uint16_t kBody = 99;

// push rbx; push r12; sub rsp: rules 1, 2, 3 and the body's at +0, +1, +3 and +7.
void add_prologue(std::uint32_t offset, RunList& runs) {
    for (const auto& [distance, code] :
         {std::pair{0U, 1}, std::pair{1U, 2}, std::pair{3U, 3}, std::pair{7U, int{kBody}}}) {
        runs.push_back({offset + distance, static_cast<std::uint16_t>(code)});
    }
}

// `count` functions, 0x100 bytes each.
RunList functions(std::uint32_t count) {
    RunList runs;
    for (std::uint32_t i = 0; i < count; ++i) {
        add_prologue(0x100 * i, runs);
    }
    return runs;
}

bool is_macro(const Run& entry) { return (entry.code & abi::CODE_MACRO) != 0; }

TEST(FoldRuns, MakesOneEntryOfAPrologueThatComesThreeTimes) {
    MacroDictionary macros;
    EXPECT_EQ(fold_runs(functions(2), macros).size(), 8U);
    EXPECT_TRUE(macros.since(0).empty());
    const RunList entries = fold_runs(functions(3), macros);
    ASSERT_EQ(entries.size(), 3U);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(entries[i].offset_from_base, 0x100 * i);
        EXPECT_EQ(entries[i].code, abi::CODE_MACRO | 0);
    }
    ASSERT_EQ(macros.since(0).size(), 1U);
    const abi::macro& macro = macros.since(0).front();
    EXPECT_EQ(macro.starts, 0x7f7f7f7f7f070301U);
    EXPECT_EQ(std::vector<int>(std::begin(macro.codes), std::end(macro.codes)),
              (std::vector<int>{1, 2, 3, kBody, kBody, kBody, kBody, kBody, kBody}));
}

TEST(FoldRuns, UsesWhatAnotherFileTaught) {
    MacroDictionary macros;
    static_cast<void>(fold_runs(functions(3), macros));
    EXPECT_EQ(fold_runs(functions(1), macros).size(), 1U);
}

TEST(FoldRuns, FindsTheIdiomInALongerSequence) {
    MacroDictionary macros;
    static_cast<void>(fold_runs(functions(3), macros));
    RunList runs = {{0, 50}, {2, 51}};
    add_prologue(4, runs);
    runs.push_back({13, 52});
    const RunList entries = fold_runs(runs, macros);
    ASSERT_EQ(entries.size(), 4U);
    EXPECT_EQ(entries[2].offset_from_base, 4U);
    EXPECT_TRUE(is_macro(entries[2]));
}

// A different second rule each time: only the part behind it, from the longest distance on, is
// common.
TEST(FoldRuns, TeachesThePartsOfRareSequences) {
    MacroDictionary macros;
    RunList runs;
    for (std::uint32_t i = 0; i < 5; ++i) {
        runs.push_back({0x100 * i, 1});
        runs.push_back({0x100 * i + 1, static_cast<std::uint16_t>(10 + i)});
        runs.push_back({0x100 * i + 20, 3});
        runs.push_back({0x100 * i + 22, 4});
    }
    const RunList entries = fold_runs(runs, macros);
    EXPECT_EQ(entries.size(), 15U);
    ASSERT_EQ(macros.since(0).size(), 1U);
    EXPECT_EQ(macros.since(0).front().codes[0], 3);
}

// Pairs of rules 0x100 bytes apart, `count` different ones from `first` on, each `uses` times.
RunList pairs(std::uint32_t first, std::uint32_t count, std::uint32_t uses) {
    RunList runs;
    for (std::uint32_t i = 0; i < uses * count; ++i) {
        const std::uint32_t number = first + i / uses;
        runs.push_back({0x100 * i, static_cast<std::uint16_t>(number & 0x7ff)});
        runs.push_back({0x100 * i + 1, static_cast<std::uint16_t>(number >> 11 | 0x1000)});
    }
    return runs;
}

TEST(FoldRuns, StillFoldsWhatItKnowsWhenTheDictionaryIsFull) {
    MacroDictionary macros;
    static_cast<void>(fold_runs(functions(3), macros));
    std::vector<RunList> many;
    std::vector<RunWindow> windows;
    for (std::uint32_t file = 0; macros.live_count() < abi::MAX_MACROS - 3; ++file) {
        ASSERT_LT(file, 200U);
        many.clear();
        windows.clear();
        for (std::uint32_t i = 0; i < 8192; ++i) many.push_back(pairs(file * 8192 + i, 1, 1));
        for (const RunList& runs : many) {
            RunFingerprint fingerprint(runs[0]);
            fingerprint.extend(runs[0], runs[1]);
            windows.push_back({runs, fingerprint.value()});
        }
        macros.add_of_one_file(windows);
    }
    EXPECT_EQ(fold_runs(functions(5), macros).size(), 5U);
    RunList unheard = {{0, 77}, {1, 78}, {40, 77}, {41, 78}, {80, 77}, {81, 78}};
    EXPECT_EQ(fold_runs(unheard, macros).size(), 6U);
}

// The first 8,192 leave three quarters of the room: now a macro has to save 4 entries. Of 24,576
// free ones the next file gets 6,144, so that 18,432 are left, and then it is 3 * 32,768 / 18,432 =
// 5.3, rounded down.
TEST(FoldRuns, TeachesOnlyWhatSavesMoreTheLessRoomThereIs) {
    MacroDictionary macros;
    static_cast<void>(fold_runs(pairs(0, 8192, 3), macros));
    ASSERT_EQ(macros.live_count(), 8192U);
    static_cast<void>(fold_runs(pairs(10000, 8192, 3), macros));
    EXPECT_EQ(macros.live_count(), 8192U);
    static_cast<void>(fold_runs(pairs(10000, 8192, 4), macros));
    EXPECT_EQ(macros.live_count(), 8192U + 6144U);
    static_cast<void>(fold_runs(pairs(20000, 100, 4), macros));
    EXPECT_EQ(macros.live_count(), 8192U + 6144U);
    static_cast<void>(fold_runs(pairs(20000, 100, 5), macros));
    EXPECT_EQ(macros.live_count(), 8192U + 6144U + 100U);
    // One prologue of four rules is three entries for each of its uses.
    static_cast<void>(fold_runs(functions(3), macros));
    EXPECT_EQ(macros.live_count(), 8192U + 6144U + 101U);
}

// A prologue at every place around the end of a granule and of 64 KiB, then 200 KiB of body.
TEST(FoldRuns, IsRightAcrossTheEndsOfGranulesAndPages) {
    for (std::uint32_t before = 0; before <= 16; ++before) {
        cfi::UnwindRows rows;
        rows.rules.emplace_back();
        for (std::int32_t i = 1; i <= 4; ++i) {
            rows.rules.push_back(test::rule_rsp(8 * i));
        }
        const auto add = [&rows](std::uint32_t offset) {
            rows.rows.insert(rows.rows.end(),
                             {{offset, 1}, {offset + 1, 2}, {offset + 3, 3}, {offset + 7, 4}});
        };
        for (std::uint32_t i = 0; i < 8; ++i) {
            add(0x80 * i + 0x80 - before);
        }
        add(0x10000 - before);
        add(0x50000 - before);
        rows.rows.push_back({0x7ffff, 0});
        SharedRules shared;
        const std::array segments = {test::text_segment(0, 0, 0x80000)};
        const Result<UnwindTable> table = build_table(rows, segments, shared);
        ASSERT_TRUE(table);
        ASSERT_FALSE(shared.macros.since(0).empty());
        ASSERT_TRUE(test::keeps_its_promises(*table));
        const auto codes = test::paint_codes(rows, segments, 0x80000, shared.specials);
        for (std::uint64_t offset = 0; offset < codes.size(); ++offset) {
            ASSERT_EQ(find_code(*table, offset, shared.macros.since(0)), codes[offset])
                << "offset " << offset << ", prologues begin " << before << " before";
        }
    }
}

// Two rules in turn, another at each byte: nine of them an entry, and short searches.
TEST(FoldRuns, FoldsAlternatingRulesOfOneMebibyte) {
    constexpr std::uint32_t kRows = 1 << 20;
    cfi::UnwindRows rows;
    rows.rules = {{}, test::rule_rsp(8), test::rule_rsp(16)};
    for (std::uint32_t i = 0; i < kRows; ++i) {
        rows.rows.push_back({i, 1 + i % 2});
    }
    SharedRules shared;
    const std::array segments = {test::text_segment(0, 0, kRows)};
    const Result<UnwindTable> table = build_table(rows, segments, shared);
    ASSERT_TRUE(table);
    ASSERT_TRUE(test::keeps_its_promises(*table));
    EXPECT_LE(table->entry_count, kRows / 9 + 10);
    for (std::uint32_t i = 0; i < kRows; ++i) {
        unsigned steps = 0;
        ASSERT_EQ(find_code(*table, i, shared.macros.since(0), &steps), 1 + i % 2) << i;
        ASSERT_LE(steps, unsigned{abi::MAX_SEARCH_STEPS});
    }
}

}  // namespace
}  // namespace bobbin::unwind_table
