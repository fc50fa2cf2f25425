// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

constexpr std::uint32_t entry(std::uint32_t offset, std::uint32_t code) {
    return offset << abi::ENTRY_OFFSET_SHIFT | code;
}

constexpr std::uint32_t link(std::uint32_t offset, std::uint32_t line) {
    return entry(offset, abi::ENTRY_IS_LINK | line);
}

using Line = std::vector<std::uint32_t>;

std::vector<std::uint32_t> words_of(std::vector<Line> lines) {
    std::vector<std::uint32_t> words;
    for (Line& line : lines) {
        line.resize(abi::LINE_WORDS, line.back());
        words.insert(words.end(), line.begin(), line.end());
    }
    return words;
}

// Three granules of 256 bytes from offset 0x10000; the last has no entry of its own.
UnwindTable three_granules(std::uint32_t second_entry = entry(0x0010, 11),
                           std::uint32_t third_entry = entry(0x00f0, 12)) {
    UnwindTable table;
    table.words = words_of({{abi::CODE_NO_CFI, second_entry, third_entry},
                            {third_entry, entry(0x0180, 13)},
                            {entry(0x0180, 13)}});
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

TEST(FindCode, TakesTheFirstWordBeforeAGranulesFirstEntry) {
    const UnwindTable table = three_granules();
    EXPECT_EQ(find_code(table, 0x10000, {}), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(table, 0x1000f, {}), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(table, 0x10100, {}), 12);
    EXPECT_EQ(find_code(table, 0x1017f, {}), 12);
}

TEST(FindCode, TakesTheFirstWordInAGranuleWithoutEntries) {
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

TEST(FindCode, FindsEachEntryOfAFullLine) {
    Line line;
    for (std::uint32_t i = 0; i < abi::LINE_WORDS; ++i) {
        line.push_back(entry(8 * i, 1 + i));
    }
    UnwindTable table;
    table.words = words_of({line});
    table.granule_count = 1;
    table.granule_shift = 7;
    for (std::uint32_t offset = 0; offset < 8 * abi::LINE_WORDS; ++offset) {
        unsigned steps = 0;
        EXPECT_EQ(find_code(table, offset, {}, &steps), 1 + offset / 8);
        EXPECT_EQ(steps, 4U);
    }
}

// The second granule of 16 KiB, from 0x4000: links from its start and from 0x4100 to 0x41ff.
UnwindTable with_second_lines() {
    UnwindTable table;
    table.words = words_of({{entry(0, 1)},
                            {link(0x4000, 1), entry(0x4080, 5), link(0x4100, 0), entry(0x4200, 6)},
                            {entry(0x4100, 20), entry(0x4110, 21), entry(0x41f0, 22)},
                            {entry(0x0, 1), entry(0x4020, 31)}});
    table.granule_count = 2;
    table.granule_shift = 14;
    return table;
}

TEST(FindCode, FollowsLinksToSecondLines) {
    const UnwindTable table = with_second_lines();
    for (const auto& [begin, end, code] :
         {std::array{0x0000U, 0x4020U, 1U}, std::array{0x4020U, 0x4080U, 31U},
          std::array{0x4080U, 0x4100U, 5U}, std::array{0x4100U, 0x4110U, 20U},
          std::array{0x4110U, 0x41f0U, 21U}, std::array{0x41f0U, 0x4200U, 22U},
          std::array{0x4200U, 0x8000U, 6U}}) {
        EXPECT_EQ(find_code(table, begin, {}), code);
        EXPECT_EQ(find_code(table, end - 1, {}), code);
    }
}

TEST(FindCode, NeedsFourHalvingsMoreInASecondLine) {
    unsigned steps = 0;
    static_cast<void>(find_code(with_second_lines(), 0x4080, {}, &steps));
    EXPECT_EQ(steps, 4U);
    static_cast<void>(find_code(with_second_lines(), 0x4110, {}, &steps));
    EXPECT_EQ(steps, unsigned{abi::MAX_SEARCH_STEPS});
}

// push; push; sub: rules 1, 2, 3 and 9 from 0, 1, 3 and 126 bytes behind the entry on.
constexpr std::array<abi::macro, 2> kMacros = {
    abi::macro{.starts = 0x7f7f7f7f7f7f7f7f, .codes = {8, 8, 8, 8, 8, 8, 8, 8, 8}, .unused = {}},
    abi::macro{.starts = 0x7f7f7f7f7f7e0301, .codes = {1, 2, 3, 9, 9, 9, 9, 9, 9}, .unused = {}}};
constexpr std::uint32_t kSecondMacro = abi::CODE_MACRO | 1;

TEST(FindCode, TakesTheRuleOfAMacroByTheDistanceFromItsEntry) {
    const UnwindTable table = three_granules(entry(0x0010, kSecondMacro));
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
    const UnwindTable table = three_granules(entry(0x0010, 11), entry(0x00fe, kSecondMacro));
    EXPECT_EQ(find_code(table, 0x100fe, kMacros), 1);
    EXPECT_EQ(find_code(table, 0x10100, kMacros), 2);
    EXPECT_EQ(find_code(table, 0x10101, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x1017b, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x1017c, kMacros), 9);
}

// The entry says 0x7ffe; seen from the next 32 KiB that is 2 bytes before their start. The longest
// granule has 2^14 bytes.
TEST(FindCode, FollowsAMacroIntoTheNext32KiB) {
    UnwindTable table;
    table.words = words_of({{abi::CODE_NO_CFI},
                            {abi::CODE_NO_CFI, entry(0x7ffe, kSecondMacro)},
                            {entry(0x7ffe, kSecondMacro)}});
    table.granule_count = 3;
    table.granule_shift = abi::MAX_GRANULE_SHIFT;
    EXPECT_EQ(find_code(table, 0x7ffd, kMacros), abi::CODE_NO_CFI);
    EXPECT_EQ(find_code(table, 0x7ffe, kMacros), 1);
    EXPECT_EQ(find_code(table, 0x7fff, kMacros), 2);
    EXPECT_EQ(find_code(table, 0x8000, kMacros), 2);
    EXPECT_EQ(find_code(table, 0x8001, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x807b, kMacros), 3);
    EXPECT_EQ(find_code(table, 0x807c, kMacros), 9);
    EXPECT_EQ(find_code(table, 0xbfff, kMacros), 9);
}

}  // namespace
}  // namespace bobbin::unwind_table
