// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

constexpr std::uint32_t entry(std::uint32_t low_offset, std::uint32_t code) {
    return low_offset << 16 | code;
}

// Two granules of 256 bytes from offset 0x10000, then one without entries:
//   words [0..2] directory, [3] no CFI, [4..5] first group, [6] second group
UnwindTable three_granules() {
    UnwindTable table;
    table.words = {4 << 8 | 2,        6 << 8 | 1,        7 << 8 | 0,       abi::CODE_NO_CFI,
                   entry(0x0010, 11), entry(0x00f0, 12), entry(0x0180, 13)};
    table.words.resize(abi::TABLE_ALIGNMENT_WORDS);
    table.base_file_offset = 0x10000;
    table.granule_count = 3;
    table.granule_shift = 8;
    return table;
}

TEST(FindCode, GivesTheLastEntryNotBehindTheOffset) {
    const UnwindTable table = three_granules();
    EXPECT_EQ(find_code(table, 0x10010, {}), 11);
    EXPECT_EQ(find_code(table, 0x10011, {}), 11);
    EXPECT_EQ(find_code(table, 0x100ef, {}), 11);
    EXPECT_EQ(find_code(table, 0x100f0, {}), 12);
    EXPECT_EQ(find_code(table, 0x10180, {}), 13);
}

TEST(FindCode, TakesThePredecessorBeforeAGranulesFirstEntry) {
    const UnwindTable table = three_granules();
    EXPECT_EQ(find_code(table, 0x10000, {}), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(table, 0x1000f, {}), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(table, 0x10100, {}), 12);
    EXPECT_EQ(find_code(table, 0x1017f, {}), 12);
}

TEST(FindCode, TakesThePredecessorInAGranuleWithoutEntries) {
    EXPECT_EQ(find_code(three_granules(), 0x10200, {}), 13);
    EXPECT_EQ(find_code(three_granules(), 0x102ff, {}), 13);
}

TEST(FindCode, FindsNothingOutsideTheGranules) {
    const UnwindTable table = three_granules();
    EXPECT_EQ(find_code(table, 0x10300, {}), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(table, 0xffff, {}), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(table, 0, {}), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(table, ~std::uint64_t{0}, {}), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(UnwindTable{}, 0, {}), abi::CODE_NO_CFI);
}

TEST(FindCode, NeedsEightHalvingsForTheFullestGranule) {
    UnwindTable table;
    table.words.resize(2 + abi::MAX_GROUP_ENTRIES);
    table.words[0] = 2 << 8 | abi::MAX_GROUP_ENTRIES;
    table.words[1] = abi::CODE_NO_CFI;
    for (std::uint32_t i = 0; i < abi::MAX_GROUP_ENTRIES; ++i) {
        table.words[2 + i] = entry(4 * i, 1 + i);
    }
    table.granule_count = 1;
    table.granule_shift = 16;
    unsigned most_steps = 0;
    for (std::uint32_t i = 0; i < abi::MAX_GROUP_ENTRIES; ++i) {
        unsigned steps = 0;
        EXPECT_EQ(find_code(table, 4 * i, {}, &steps), 1 + i);
        most_steps = std::max(most_steps, steps);
        EXPECT_EQ(find_code(table, 4 * i + 3, {}, &steps), 1 + i);
        most_steps = std::max(most_steps, steps);
    }
    EXPECT_EQ(most_steps, unsigned{abi::MAX_SEARCH_STEPS});
}

// push; push; sub: rules 1, 2, 3 and 9 from 0, 1, 3 and 126 bytes behind the entry on.
constexpr std::array<abi::macro, 2> kMacros = {
    abi::macro{.starts = 0x7f7f7f7f7f7f7f7f, .codes = {8, 8, 8, 8, 8, 8, 8, 8, 8}, .unused = {}},
    abi::macro{.starts = 0x7f7f7f7f7f7e0301, .codes = {1, 2, 3, 9, 9, 9, 9, 9, 9}, .unused = {}}};
constexpr std::uint32_t kSecondMacro = abi::CODE_MACRO | 1;

TEST(FindCode, TakesTheRuleOfAMacroByTheDistanceFromItsEntry) {
    UnwindTable table = three_granules();
    table.words[4] = entry(0x0010, kSecondMacro);
    EXPECT_EQ(find_code(table, 0x10010, kMacros), 1);
    EXPECT_EQ(find_code(table, 0x10011, kMacros), 2);
    EXPECT_EQ(find_code(table, 0x10012, kMacros), 2);
    EXPECT_EQ(find_code(table, 0x10013, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x1008d, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x1008e, kMacros), 9);
    EXPECT_EQ(find_code(table, 0x100ef, kMacros), 9);
    EXPECT_EQ(find_code(table, 0x100f0, kMacros), 12);
}

TEST(FindCode, FollowsAMacroIntoTheNextGranule) {
    UnwindTable table = three_granules();
    table.words[5] = entry(0x00fe, kSecondMacro);
    EXPECT_EQ(find_code(table, 0x100fe, kMacros), 1);
    EXPECT_EQ(find_code(table, 0x10100, kMacros), 2);
    EXPECT_EQ(find_code(table, 0x10101, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x1017b, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x1017c, kMacros), 9);
}

// The entry says 0xfffe; seen from the next 64 KiB that is 2 bytes before their start.
TEST(FindCode, FollowsAMacroIntoTheNext64KiB) {
    UnwindTable table;
    table.words = {3 << 8 | 1, 4 << 8 | 0, abi::CODE_NO_CFI, entry(0xfffe, kSecondMacro), 0};
    table.granule_count = 2;
    table.granule_shift = 16;
    EXPECT_EQ(find_code(table, 0xfffe, kMacros), 1);
    EXPECT_EQ(find_code(table, 0xffff, kMacros), 2);
    EXPECT_EQ(find_code(table, 0x10000, kMacros), 2);
    EXPECT_EQ(find_code(table, 0x10001, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x1007b, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x1007c, kMacros), 9);
    EXPECT_EQ(find_code(table, 0x1fffd, kMacros), 9);
}

}  // namespace
}  // namespace bobbin::unwind_table
