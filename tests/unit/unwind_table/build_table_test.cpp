// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/build_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

#include "unit/unwind_table/table_reference.h"

namespace bobbin::unwind_table {
namespace {

using test::keeps_its_promises;
using test::RowsBuilder;
using test::rule_rbp;
using test::rule_rsp;
using test::text_segment;

UnwindTable build(const RowsBuilder& builder, std::span<const elf::LoadSegment> segments) {
    SpecialRules specials;
    Result<UnwindTable> table = build_table(builder.rows(), segments, specials);
    EXPECT_TRUE(table) << table.error().message();
    if (!table) {
        return {};
    }
    EXPECT_TRUE(keeps_its_promises(*table));
    return *std::move(table);
}

// Codes of rule_rsp(8 * n) are n.
constexpr std::uint16_t kNoCfi = abi::CODE_NO_CFI;

TEST(BuildTable, IsIndexedByFileOffset) {
    const UnwindTable table =
        build(RowsBuilder(0x401000).add(0, rule_rsp(8)).add(0x40, rule_rsp(16)).add_gap(0x80),
              std::array{text_segment(0x21000, 0x401000, 0x1000)});
    EXPECT_EQ(table.base_file_offset, 0x20000U);
    EXPECT_EQ(find_code(table, 0x20fff), kNoCfi);
    EXPECT_EQ(find_code(table, 0x21000), 1);
    EXPECT_EQ(find_code(table, 0x2103f), 1);
    EXPECT_EQ(find_code(table, 0x21040), 2);
    EXPECT_EQ(find_code(table, 0x2107f), 2);
    EXPECT_EQ(find_code(table, 0x21080), kNoCfi);
    EXPECT_EQ(table.row_count, 3U);
    EXPECT_EQ(table.entry_count, 3U);
    EXPECT_EQ(table.words.size(), std::size_t{abi::WORDS_PER_CHUNK});
}

TEST(BuildTable, GivesGapsUnderSixteenBytesTheRuleBefore) {
    const UnwindTable table = build(RowsBuilder(0)
                                        .add(0x100, rule_rsp(8))
                                        .add_gap(0x120)
                                        .add(0x12f, rule_rsp(16))  // 15 bytes later
                                        .add_gap(0x140)
                                        .add(0x150, rule_rsp(24))  // 16 bytes later
                                        .add_gap(0x160),
                                    std::array{text_segment(0, 0, 0x1000)});
    EXPECT_EQ(find_code(table, 0x12e), 1);
    EXPECT_EQ(find_code(table, 0x12f), 2);
    EXPECT_EQ(find_code(table, 0x140), kNoCfi);
    EXPECT_EQ(find_code(table, 0x14f), kNoCfi);
    EXPECT_EQ(find_code(table, 0x150), 3);
    EXPECT_EQ(find_code(table, 0x160), kNoCfi);
    EXPECT_EQ(table.row_count, 6U);
    EXPECT_EQ(table.entry_count, 5U);
}

TEST(BuildTable, LeavesAShortGapAtTheBeginOfASegmentWithoutCfi) {
    const UnwindTable table = build(
        RowsBuilder(0x1000)
            .add(0, rule_rsp(8))
            .add_gap(0xff8)
            .add(0x1008, rule_rsp(16))
            .add_gap(0x1100),
        std::array{text_segment(0x1000, 0x1000, 0x1000), text_segment(0x2000, 0x2000, 0x1000)});
    EXPECT_EQ(find_code(table, 0x1fff), 1);
    EXPECT_EQ(find_code(table, 0x2000), kNoCfi);
    EXPECT_EQ(find_code(table, 0x2007), kNoCfi);
    EXPECT_EQ(find_code(table, 0x2008), 2);
}

TEST(BuildTable, MergesNeighboursWithEqualCodes) {
    cfi::UnwindRule lost = rule_rsp(16);
    lost.rbp = cfi::RbpKind::kUndefined;
    cfi::UnwindRule lost_too = lost;
    lost_too.rbp = cfi::RbpKind::kExpression;
    const UnwindTable table = build(RowsBuilder(0)
                                        .add(0x00, rule_rsp(8))
                                        .add_gap(0x20)
                                        .add(0x28, rule_rsp(8))
                                        .add(0x40, lost)
                                        .add(0x60, lost_too)
                                        .add_gap(0x80),
                                    std::array{text_segment(0, 0, 0x1000)});
    EXPECT_EQ(table.row_count, 6U);
    EXPECT_EQ(table.entry_count, 3U);
    EXPECT_EQ(find_code(table, 0x48), find_code(table, 0x70));
}

TEST(BuildTable, HasNoCfiBetweenSegments) {
    // A row that runs on over the end of the first segment; the second begins in it.
    const UnwindTable table =
        build(RowsBuilder(0x1000).add(0, rule_rsp(8)).add_gap(0x9000),
              std::array{text_segment(0x8000, 0x5000, 0x800), text_segment(0x1000, 0x1000, 0x800)});
    EXPECT_EQ(find_code(table, 0xfff), kNoCfi);
    EXPECT_EQ(find_code(table, 0x1000), 1);
    EXPECT_EQ(find_code(table, 0x17ff), 1);
    EXPECT_EQ(find_code(table, 0x1800), kNoCfi);
    EXPECT_EQ(find_code(table, 0x7fff), kNoCfi);
    EXPECT_EQ(find_code(table, 0x8000), 1);
    EXPECT_EQ(find_code(table, 0x87ff), 1);
    EXPECT_EQ(find_code(table, 0x8800), kNoCfi);
}

TEST(BuildTable, LeavesDataSegmentsOut) {
    elf::LoadSegment data = text_segment(0x2000, 0x2000, 0x1000);
    data.executable = false;
    const UnwindTable table = build(RowsBuilder(0x1000).add(0, rule_rsp(8)).add_gap(0x2000),
                                    std::array{text_segment(0x1000, 0x1000, 0x1000), data});
    EXPECT_EQ(find_code(table, 0x1fff), 1);
    EXPECT_EQ(find_code(table, 0x2000), kNoCfi);
}

TEST(BuildTable, LeavesAddressesBelowTheFirstRowWithoutCfi) {
    const std::array segments = {text_segment(0, 0, 0x1000), text_segment(0x1000, 0x1000, 0x1000)};
    const UnwindTable table =
        build(RowsBuilder(0x1010).add(0, rule_rsp(16)).add_gap(0x100), segments);
    EXPECT_EQ(find_code(table, 0x100f), kNoCfi);
    EXPECT_EQ(find_code(table, 0x1010), 2);
    EXPECT_EQ(find_code(table, 0x110f), 2);
    EXPECT_EQ(find_code(table, 0x1110), kNoCfi);
}

// Side by side in the file, far from each other in memory; the second begins before the first row.
TEST(BuildTable, DoesNotCarryARuleIntoTheNextSegment) {
    const std::array segments = {text_segment(0x1000, 0x9000, 0x100),
                                 text_segment(0x1100, 0x2000, 0x100)};
    for (const RowsBuilder& rows : {RowsBuilder(0x2080).add(0, rule_rsp(16)).add_gap(0x8000),
                                    RowsBuilder(0x2000).add(0x80, rule_rsp(16)).add_gap(0x8080)}) {
        const UnwindTable table = build(rows, segments);
        EXPECT_EQ(find_code(table, 0x10ff), 2);
        EXPECT_EQ(find_code(table, 0x1100), kNoCfi);
        EXPECT_EQ(find_code(table, 0x117f), kNoCfi);
        EXPECT_EQ(find_code(table, 0x1180), 2);
    }
}

TEST(BuildTable, SharesAnIndexAmongGranulesWithoutEntries) {
    const UnwindTable table = build(RowsBuilder(0).add(0, rule_rsp(8)).add_gap(0x400000),
                                    std::array{text_segment(0, 0, 0x500000)});
    ASSERT_EQ(table.granule_shift, 16U);
    ASSERT_EQ(table.granule_count, 0x40U);
    EXPECT_EQ(table.words[0] & 255, 1U);
    for (std::uint32_t granule = 1; granule < table.granule_count; ++granule) {
        EXPECT_EQ(table.words[granule], ((table.words[0] >> 8) + 1) << 8) << granule;
    }
    EXPECT_EQ(find_code(table, 0x3fffff), 1);
    EXPECT_EQ(find_code(table, 0x400000), kNoCfi);
}

// Alternating rules, one a byte: 254 of them fit a granule of any size, 255 do not.
RowsBuilder one_row_a_byte(std::uint32_t count) {
    RowsBuilder builder(0);
    for (std::uint32_t i = 0; i < count; ++i) {
        builder.add(i, rule_rsp(i % 2 == 0 ? 8 : 16));
    }
    return builder;
}

TEST(BuildTable, FillsAGranuleWithAtMost254Entries) {
    const std::array segments = {text_segment(0, 0, 0x100000)};
    const UnwindTable full = build(one_row_a_byte(254).add_gap(0x90000), segments);
    EXPECT_EQ(full.granule_shift, 16U);
    EXPECT_EQ(full.words[0] & 255, 254U);
    unsigned steps = 0;
    EXPECT_EQ(find_code(full, 253, &steps), 2);
    EXPECT_LE(steps, unsigned{abi::MAX_SEARCH_STEPS});

    const UnwindTable split = build(one_row_a_byte(255).add_gap(0x90000), segments);
    EXPECT_EQ(split.granule_shift, 7U);
    EXPECT_EQ(split.words[0] & 255, 128U);
    EXPECT_EQ(split.words[1] & 255, 127U);
    EXPECT_EQ(find_code(split, 254), 1);
}

TEST(BuildTable, KeepsTheDirectorySmallBesideTheEntries) {
    RowsBuilder builder(0);
    for (std::uint32_t i = 0; i < 100000; ++i) {
        builder.add(10 * i, rule_rsp(i % 2 == 0 ? 8 : 16));
    }
    const UnwindTable table =
        build(builder.add_gap(1000000), std::array{text_segment(0, 0, 1000000)});
    // 12.8 entries in 128 bytes are too few for a directory word, 25.6 in 256 bytes are not.
    EXPECT_EQ(table.granule_shift, 8U);
    EXPECT_EQ(table.granule_count, 3907U);  // 1,000,000 / 256 rounded up
    EXPECT_LE(table.words.size() * 4, 450000U);
}

TEST(BuildTable, DropsRulesForWhichThereIsNoSpecialLeft) {
    SpecialRules specials;
    for (std::int32_t i = 1; i < abi::MAX_SPECIAL_RULES; ++i) {
        ASSERT_TRUE(encode_rule(rule_rsp(-8 * i), specials));
    }
    RowsBuilder builder(0);
    builder.add(0x00, rule_rsp(8))
        .add(0x40, rule_rsp(100000))  // not known, no room
        .add(0x44, rule_rsp(16))
        .add(0x80, rule_rsp(-8))  // known
        .add(0xc0, rule_rsp(100000))
        .add_gap(0x100);
    const Result<UnwindTable> table =
        build_table(builder.rows(), std::array{text_segment(0, 0, 0x1000)}, specials);
    ASSERT_TRUE(table);
    EXPECT_EQ(table->rules_dropped, 2U);
    EXPECT_EQ(find_code(*table, 0x3f), 1);
    EXPECT_EQ(find_code(*table, 0x40), kNoCfi);  // not the rule before: this is no padding
    EXPECT_EQ(find_code(*table, 0x44), 2);
    EXPECT_EQ(find_code(*table, 0x80), abi::CODE_SPECIAL | 1);
    EXPECT_EQ(find_code(*table, 0xc0), kNoCfi);
}

TEST(BuildTable, TakesNoSpecialForRowsOutsideTheText) {
    SpecialRules specials;
    RowsBuilder builder(0);
    builder.add(0, rule_rsp(8)).add(0x1000, rule_rsp(100000)).add_gap(0x2000);
    ASSERT_TRUE(build_table(builder.rows(), std::array{text_segment(0, 0, 0x1000)}, specials));
    EXPECT_TRUE(specials.since(1).empty());
}

TEST(BuildTable, IsEmptyWhereThereIsNothingToSay) {
    const RowsBuilder some = RowsBuilder(0x1000).add(0, rule_rsp(8)).add_gap(0x100);
    for (const UnwindTable& table :
         {build(some, {}), build(some, std::array{text_segment(0x1000, 0x5000, 0x1000)}),
          build(some, std::array{text_segment(0x1000, 0, 0x1000)}),
          build(RowsBuilder(0), std::array{text_segment(0, 0, 0x1000)})}) {
        EXPECT_EQ(table.granule_count, 0U);
        EXPECT_TRUE(table.words.empty());
        EXPECT_EQ(find_code(table, 0x1000), kNoCfi);
    }
}

TEST(BuildTable, ReachesTheLastByteOfFourGibibytes) {
    constexpr std::uint64_t kFourGib = 1ULL << 32;
    const UnwindTable table = build(RowsBuilder(0).add(0, rule_rsp(8)).add_gap(0xffffffff),
                                    std::array{text_segment(0x30000, 0, kFourGib)});
    EXPECT_EQ(table.granule_count, 0x10000U);
    EXPECT_EQ(find_code(table, 0x30000 + kFourGib - 1), 1);
    EXPECT_EQ(find_code(table, 0x30000 + kFourGib), kNoCfi);
}

TEST(BuildTable, SurvivesRowsAtTheEndOfTheAddressSpace) {
    constexpr std::uint64_t kBase = std::numeric_limits<std::uint64_t>::max() - 0xfff;
    const UnwindTable table =
        build(RowsBuilder(kBase).add(0, rule_rsp(8)).add(0xffffff00, rule_rsp(16)),
              std::array{text_segment(0x1000, kBase - 0x100, 0x1000)});
    EXPECT_EQ(find_code(table, 0x10ff), kNoCfi);
    EXPECT_EQ(find_code(table, 0x1100), 1);
    EXPECT_EQ(find_code(table, 0x1fff), 1);
}

TEST(BuildTable, RefusesRowsTooDenseForSoLongAText) {
    SpecialRules specials;
    // 255 entries in 256 bytes want granules of 128, of which 2^32 bytes have 2^25.
    const RowsBuilder builder = one_row_a_byte(255).add(0xfffffff0, rule_rsp(8));
    const Result<UnwindTable> table = build_table(
        builder.rows(), std::array{text_segment(0, 0, std::uint64_t{1} << 32)}, specials);
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message(), ::testing::HasSubstr("too dense"));
}

TEST(BuildTable, RefusesMoreWordsThanADirectoryCanReach) {
    SpecialRules specials;
    constexpr std::uint32_t kRows = 1 << 24;
    cfi::UnwindRows rows;
    rows.rules = {{}, rule_rsp(8), rule_rsp(16)};
    rows.rows.reserve(kRows);
    for (std::uint32_t i = 0; i < kRows; ++i) {
        rows.rows.push_back({i, 1 + i % 2});
    }
    const Result<UnwindTable> table =
        build_table(rows, std::array{text_segment(0, 0, kRows)}, specials);
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message(), ::testing::HasSubstr("2^24 words"));
}

// Rows of every length from dense to sparse, gaps short and long, against the painted file.
class RandomRows : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomRows, AgreeWithThePaintedFileAtEveryByte) {
    std::mt19937 random(GetParam());
    const auto below = [&random](std::uint32_t bound) {
        return static_cast<std::uint32_t>(random()) % bound;
    };
    constexpr std::uint32_t kTextBytes = 0x60000;
    RowsBuilder builder(0x400100);
    std::uint32_t longest = 4;
    for (std::uint32_t vaddr = below(40); vaddr < kTextBytes; vaddr += 1 + below(longest)) {
        if (below(200) == 0) {
            longest = 1U << below(15);
        }
        if (below(8) == 0) {
            builder.add_gap(vaddr);
        } else {
            builder.add(vaddr, below(4) == 0 ? rule_rbp(16, -16)
                                             : rule_rsp(8 * static_cast<std::int32_t>(below(9))));
        }
    }
    elf::LoadSegment data = text_segment(0x45000, 0x445000, 0x1000);
    data.executable = false;
    const std::array segments = {text_segment(0x46010, 0x446010, 0x9ff0),
                                 text_segment(0x12345, 0x400000, 0x2fff0), data,
                                 text_segment(0x50000, 0x430000, 0x10000)};

    SpecialRules specials;
    const Result<UnwindTable> table = build_table(builder.rows(), segments, specials);
    ASSERT_TRUE(table);
    ASSERT_TRUE(keeps_its_promises(*table));
    const std::vector<std::uint16_t> codes =
        test::paint_codes(builder.rows(), segments, 0x70000, specials);
    for (std::size_t offset = 0; offset < codes.size(); ++offset) {
        ASSERT_EQ(find_code(*table, offset), codes[offset]) << "offset " << offset;
    }
}

INSTANTIATE_TEST_SUITE_P(BuildTable, RandomRows, ::testing::Range(0U, 24U));

}  // namespace
}  // namespace bobbin::unwind_table
