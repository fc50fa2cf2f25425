// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/write_lines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "unit/unwind_table/table_reference.h"

namespace bobbin::unwind_table {
namespace {

using RunList = std::vector<Run>;  // within a TEST, Run is googletest's

// Adds `count` entries to each of the granules of 512 bytes from the first free one on, the first
// where the granule begins; another code each.
void add_entries(std::uint32_t granules, std::uint32_t count, RunList& entries) {
    const std::uint32_t begin = entries.empty() ? 0 : entries.back().offset_from_base / 512 + 1;
    for (std::uint32_t i = 0; i < granules * count; ++i) {
        entries.push_back({.offset_from_base = (begin + i / count) * 512 + i % count * 25,
                           .code = static_cast<std::uint16_t>(1 + entries.size() % 2000)});
    }
}

UnwindTable table_of(const RunList& entries, std::uint32_t granules) {
    UnwindTable table;
    table.granule_shift = 9;
    table.granule_count = granules;
    table.words = write_lines(entries, {.shift = 9, .count = granules}, {});
    return table;
}

void expect_each_code(const UnwindTable& table, const RunList& entries) {
    ASSERT_TRUE(test::keeps_its_promises(table));
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::uint32_t end =
            i + 1 < entries.size() ? entries[i + 1].offset_from_base : table.granule_count << 9;
        for (std::uint32_t offset = entries[i].offset_from_base; offset < end; ++offset) {
            ASSERT_EQ(find_code(table, offset, {}), entries[i].code) << "offset " << offset;
        }
    }
}

// 20 entries are 5 too many and leave a link: three granules fill 15 words of a second line.
TEST(WriteLines, LetsGranulesShareSecondLines) {
    RunList entries;
    add_entries(8, 20, entries);
    const UnwindTable table = table_of(entries, 8);
    EXPECT_EQ(table.words.size(), (8U + 3U) * abi::LINE_WORDS);
    expect_each_code(table, entries);
}

// 64 granules need 22 lines, wherever the other 64 begin.
TEST(WriteLines, SharesNoSecondLineAcrossAMultipleOf32KiB) {
    RunList entries;
    add_entries(128, 20, entries);
    const UnwindTable table = table_of(entries, 128);
    EXPECT_EQ(table.words.size(), (128U + 2 * 22U) * abi::LINE_WORDS);
    expect_each_code(table, entries);
}

// 17 entries are two too many with the link, 20 are five: 2 + 2 + 2 + 2 + 5 + 2 words in one line,
// and the other three ranges in another.
TEST(WriteLines, FillsSecondLinesWithRangesOfAnyLength) {
    RunList entries;
    add_entries(4, 17, entries);
    add_entries(1, 20, entries);
    add_entries(4, 17, entries);
    const UnwindTable table = table_of(entries, 9);
    EXPECT_EQ(table.words.size(), (9U + 2U) * abi::LINE_WORDS);
    expect_each_code(table, entries);
}

}  // namespace
}  // namespace bobbin::unwind_table
