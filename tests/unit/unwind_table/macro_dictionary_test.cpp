// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/macro_dictionary.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <thread>
#include <vector>

namespace bobbin::unwind_table {
namespace {

using RunList = std::vector<Run>;  // within a TEST, Run is googletest's

RunWindow window_of(std::span<const Run> runs) {
    RunFingerprint fingerprint(runs[0]);
    for (std::size_t i = 1; i < runs.size(); ++i) {
        fingerprint.extend(runs[i - 1], runs[i]);
    }
    return {runs, fingerprint.value()};
}

std::optional<std::uint16_t> find(const MacroDictionary& macros, const RunList& runs) {
    return macros.find(window_of(runs));
}

// Two runs, another pair for each number below 2^22.
RunList pair_number(std::uint32_t number) {
    return {{0, static_cast<std::uint16_t>(number & 0x7ff)},
            {1, static_cast<std::uint16_t>(number >> 11)}};
}

void add_pairs(MacroDictionary& macros, std::uint32_t first, std::uint32_t count) {
    std::vector<RunList> runs;
    std::vector<RunWindow> windows;
    for (std::uint32_t i = first; i < first + count; ++i) {
        runs.push_back(pair_number(i));
        windows.push_back(window_of(runs.back()));
    }
    macros.add_of_one_file(windows);
}

// The slow way: the last run that begins at or before the distance.
std::uint16_t code_by_walking(std::span<const Run> runs, std::uint32_t distance) {
    std::uint16_t code = 0;
    for (const Run& run : runs) {
        if (run.offset_from_base - runs[0].offset_from_base <= distance) {
            code = run.code;
        }
    }
    return code;
}

TEST(MacroDictionary, GivesTheRuleAtEveryDistance) {
    MacroDictionary macros;
    for (std::uint32_t count = 2; count <= abi::MACRO_CODES; ++count) {
        for (std::uint32_t spacing = 1; spacing * (count - 1) <= abi::MACRO_MAX_DISTANCE;
             ++spacing) {
            RunList runs;
            for (std::uint32_t i = 0; i < count; ++i) {
                runs.push_back({5000 + spacing * i, static_cast<std::uint16_t>(100 + 7 * i)});
            }
            const std::array windows = {window_of(runs)};
            macros.add_of_one_file(windows);
            const std::optional<std::uint16_t> index = macros.find(windows[0]);
            ASSERT_TRUE(index);
            const abi::macro& macro = macros.since(*index).front();
            for (std::uint32_t distance = 0; distance <= 127; ++distance) {
                ASSERT_EQ(code_at(macro, distance), code_by_walking(runs, distance))
                    << count << " rules " << spacing << " apart, at " << distance;
            }
            ASSERT_EQ(code_at(macro, 0xffff), runs.back().code);
        }
    }
}

TEST(MacroDictionary, TellsWindowsApartByCodesDistancesAndLength) {
    MacroDictionary macros;
    const RunList runs = {{10, 1}, {11, 2}, {13, 3}};
    const std::array windows = {window_of(runs)};
    macros.add_of_one_file(windows);
    EXPECT_EQ(find(macros, {{10, 1}, {11, 2}, {13, 3}}), 0);
    EXPECT_EQ(find(macros, {{70, 1}, {71, 2}, {73, 3}}), 0) << "wherever it begins";
    EXPECT_FALSE(find(macros, {{10, 1}, {11, 2}}));
    EXPECT_FALSE(find(macros, {{10, 1}, {11, 2}, {13, 3}, {14, 4}}));
    EXPECT_FALSE(find(macros, {{10, 1}, {11, 2}, {14, 3}}));
    EXPECT_FALSE(find(macros, {{10, 1}, {11, 2}, {13, 4}}));
    EXPECT_FALSE(find(macros, {{10, 9}, {11, 2}, {13, 3}}));
}

TEST(MacroDictionary, IsNotDeceivedByEqualFingerprints) {
    MacroDictionary macros;
    const RunList known = {{0, 1}, {1, 2}};
    const RunList other = {{0, 1}, {1, 3}};
    const std::array windows = {RunWindow{known, 0x12345678}};
    macros.add_of_one_file(windows);
    EXPECT_EQ(macros.find({known, 0x12345678}), 0);
    EXPECT_FALSE(macros.find({other, 0x12345678}));
}

TEST(MacroDictionary, KnowsWhatItsMacrosBeginWith) {
    MacroDictionary macros;
    const RunList runs = {{0, 1}, {1, 2}, {3, 3}};
    EXPECT_FALSE(macros.may_begin_with(window_of(std::span(runs).first(2)).fingerprint));
    const std::array windows = {window_of(runs)};
    macros.add_of_one_file(windows);
    EXPECT_TRUE(macros.may_begin_with(window_of(std::span(runs).first(2)).fingerprint));
    EXPECT_TRUE(macros.may_begin_with(window_of(runs).fingerprint));
    EXPECT_FALSE(macros.may_begin_with(window_of(std::span(runs).last(2)).fingerprint));
}

TEST(MacroDictionary, GivesOneFileAQuarterOfItsRoom) {
    MacroDictionary macros;
    add_pairs(macros, 0, abi::MAX_MACROS);
    EXPECT_EQ(macros.since(0).size(), 8192U);
    add_pairs(macros, 0, 8192);
    EXPECT_EQ(macros.since(0).size(), 8192U) << "what is there is not added again";
    add_pairs(macros, 100000, abi::MAX_MACROS);
    EXPECT_EQ(macros.since(0).size(), 8192U + (32768 - 8192) / 4);
    EXPECT_EQ(macros.since(8192).size(), 6144U);
    EXPECT_TRUE(macros.since(20000).empty());
}

TEST(MacroDictionary, StaysUsableWhenFull) {
    MacroDictionary macros;
    for (std::uint32_t file = 0; file < 100; ++file) {
        add_pairs(macros, 10000 * file, 10000);
    }
    // Of the last three a quarter is none.
    EXPECT_EQ(macros.since(0).size(), std::size_t{abi::MAX_MACROS} - 3);
    EXPECT_EQ(find(macros, pair_number(17)), 17);
    EXPECT_FALSE(find(macros, pair_number(999999)));
}

TEST(MacroDictionary, AgreesAmongThreads) {
    MacroDictionary macros;
    std::thread other([&] {
        for (std::uint32_t i = 2000; i-- > 0;) {
            add_pairs(macros, i, 1);
        }
    });
    for (std::uint32_t i = 0; i < 2000; ++i) {
        add_pairs(macros, i, 1);
        // Found means readable and counted, whoever added it.
        const auto index = find(macros, pair_number(1999 - i));
        if (index) {
            ASSERT_FALSE(macros.since(*index).empty());
            ASSERT_EQ(macros.since(*index).front().codes[0], (1999 - i) & 0x7ff);
        }
    }
    other.join();
    EXPECT_EQ(macros.since(0).size(), 2000U);
}

}  // namespace
}  // namespace bobbin::unwind_table
