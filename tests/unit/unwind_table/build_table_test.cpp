// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/build_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "unit/unwind_table/table_reference.h"

namespace bobbin::unwind_table {
namespace {

using test::keeps_its_promises;
using test::RowsBuilder;
using test::rule_rbp;
using test::rule_rsp;
using test::text_segment;

// A table and what its codes refer to.
struct BuiltTable : UnwindTable {
    std::shared_ptr<SharedRules> shared = std::make_shared<SharedRules>();
};

std::uint16_t find_code(const BuiltTable& table, std::uint64_t file_offset,
                        unsigned* steps = nullptr) {
    return find_code(table, file_offset, table.shared->macros.since(0), steps);
}

BuiltTable build(const RowsBuilder& builder, std::span<const elf::LoadSegment> segments) {
    BuiltTable built;
    Result<UnwindTable> table = build_table(builder.rows(), segments, *built.shared);
    EXPECT_TRUE(table) << table.error().message();
    if (table) {
        EXPECT_TRUE(keeps_its_promises(*table));
        static_cast<UnwindTable&>(built) = *std::move(table);
    }
    return built;
}

// Codes of rule_rsp(8 * n) are n.
constexpr std::uint16_t kNoCfi = abi::CODE_NO_CFI;

TEST(BuildTable, IsIndexedByFileOffset) {
    const BuiltTable table =
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
    EXPECT_EQ(table.words.size(), std::size_t{abi::TABLE_ALIGNMENT_WORDS});
}

TEST(BuildTable, GivesGapsUnderSixteenBytesTheRuleBefore) {
    const BuiltTable table = build(RowsBuilder(0)
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
    const BuiltTable table = build(
        RowsBuilder(0x1000)
            .add(0, rule_rsp(8))
            .add_gap(0xff8)
            .add(0x1008, rule_rsp(16))
            .add_gap(0x1100),
        std::array{text_segment(0x1000, 0x1000, 0x1000), text_segment(0x2000, 0x2000, 0x1000)});
    EXPECT_EQ(find_code(table, 0x1fff), kNoCfi);
    EXPECT_EQ(find_code(table, 0x2000), kNoCfi);
    EXPECT_EQ(find_code(table, 0x2007), kNoCfi);
    EXPECT_EQ(find_code(table, 0x2008), 2);
}

// .fini: sub $8,%rsp; add $8,%rsp; ret. Without an FDE, at the end of the segment.
TEST(BuildTable, LeavesAShortGapAtTheEndOfASegmentWithoutCfi) {
    const BuiltTable table = build(RowsBuilder(0x1000).add(0, rule_rsp(8)).add_gap(0xff7),
                                   std::array{text_segment(0x1000, 0x1000, 0x1000)});
    EXPECT_EQ(find_code(table, 0x1ff6), 1);
    EXPECT_EQ(find_code(table, 0x1ff7), kNoCfi);
    EXPECT_EQ(find_code(table, 0x1fff), kNoCfi);
}

TEST(BuildTable, MergesNeighboursWithEqualCodes) {
    cfi::UnwindRule lost = rule_rsp(16);
    lost.rbp = cfi::RbpKind::kUndefined;
    cfi::UnwindRule lost_too = lost;
    lost_too.rbp = cfi::RbpKind::kExpression;
    const BuiltTable table = build(RowsBuilder(0)
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
    const BuiltTable table =
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
    const BuiltTable table = build(RowsBuilder(0x1000).add(0, rule_rsp(8)).add_gap(0x2000),
                                   std::array{text_segment(0x1000, 0x1000, 0x1000), data});
    EXPECT_EQ(find_code(table, 0x1fff), 1);
    EXPECT_EQ(find_code(table, 0x2000), kNoCfi);
}

TEST(BuildTable, LeavesAddressesBelowTheFirstRowWithoutCfi) {
    const std::array segments = {text_segment(0, 0, 0x1000), text_segment(0x1000, 0x1000, 0x1000)};
    const BuiltTable table =
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
        const BuiltTable table = build(rows, segments);
        EXPECT_EQ(find_code(table, 0x10ff), 2);
        EXPECT_EQ(find_code(table, 0x1100), kNoCfi);
        EXPECT_EQ(find_code(table, 0x117f), kNoCfi);
        EXPECT_EQ(find_code(table, 0x1180), 2);
    }
}

TEST(BuildTable, SaysInEachGranuleWhatHoldsAtItsStart) {
    const BuiltTable table = build(RowsBuilder(0).add(0, rule_rsp(8)).add_gap(0x400000),
                                   std::array{text_segment(0, 0, 0x500000)});
    ASSERT_EQ(table.granule_shift, unsigned{abi::MAX_GRANULE_SHIFT});
    ASSERT_EQ(table.granule_count, 0x100U);
    EXPECT_THAT(table.words, ::testing::SizeIs(0x100 * abi::LINE_WORDS));
    EXPECT_THAT(table.words, ::testing::Each(1U)) << "offset 0, code 1";
    EXPECT_EQ(find_code(table, 0x3fffff), 1);
    EXPECT_EQ(find_code(table, 0x400000), kNoCfi);
}

// Another rule at each byte, so that no two runs are alike.
RowsBuilder one_row_a_byte(std::uint32_t count) {
    RowsBuilder builder(0);
    for (std::uint32_t i = 0; i < count; ++i) {
        builder.add(i, rule_rsp(8 + 8 * static_cast<std::int32_t>(i)));
    }
    return builder;
}

// 15 links to second lines of 16 and one word more are 241.
TEST(BuildTable, FillsAGranuleWithAtMost241Entries) {
    const std::array segments = {text_segment(0, 0, 0x100000)};
    const BuiltTable full = build(one_row_a_byte(241).add_gap(0x90000), segments);
    // 576 KiB: 36 granules of 16 KiB, 15 second lines; any smaller granules would be too many.
    EXPECT_EQ(full.granule_shift, 14U);
    EXPECT_EQ(full.words.size(), (36U + 15U) * abi::LINE_WORDS);
    for (std::uint32_t i = 0; i < 241; ++i) {
        unsigned steps = 0;
        EXPECT_EQ(find_code(full, i, &steps), 1 + i);
        EXPECT_LE(steps, unsigned{abi::MAX_SEARCH_STEPS});
    }

    const BuiltTable split = build(one_row_a_byte(242).add_gap(0x90000), segments);
    EXPECT_EQ(split.granule_shift, 7U);
    EXPECT_EQ(find_code(split, 241), 242);
}

TEST(BuildTable, KeepsGranulesLargeEnoughForTheirLines) {
    RowsBuilder builder(0);
    for (std::uint32_t i = 0; i < 100000; ++i) {
        builder.add(40 * i, rule_rsp(i % 2 == 0 ? 8 : 16));  // too far apart for a macro
    }
    const BuiltTable table =
        build(builder.add_gap(4000000), std::array{text_segment(0, 0, 4000000)});
    // 6.4 entries in 256 bytes are too few for 16 words, 12.8 in 512 are not and fit a line.
    EXPECT_EQ(table.granule_shift, 9U);
    EXPECT_EQ(table.granule_count, 7813U);  // 4,000,000 / 512
    EXPECT_EQ(table.words.size(), 7813U * abi::LINE_WORDS);
}

// The macro's last rule holds for the body: a look-up there needs the line only.
TEST(BuildTable, GivesBodiesAnEntryOfTheirOwnWhereThereIsRoom) {
    RowsBuilder builder(0);
    for (std::uint32_t i = 0; i < 4; ++i) {
        builder.add(0x100 * i, rule_rsp(8)).add(0x100 * i + 1, rule_rsp(16));
        builder.add(0x100 * i + 5, rule_rsp(32));
    }
    const BuiltTable table = build(builder.add_gap(0x400), std::array{text_segment(0, 0, 0x1000)});
    ASSERT_EQ(table.entry_count, 5U) << "four macros and the end";
    ASSERT_EQ(table.words.size(), std::size_t{abi::LINE_WORDS});
    const auto word = [](std::uint32_t offset, std::uint32_t code) {
        return offset << abi::ENTRY_OFFSET_SHIFT | code;
    };
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(table.words[2 * i], word(0x100 * i, abi::CODE_MACRO | 0));
        EXPECT_EQ(table.words[2 * i + 1], word(0x100 * i + 5, 4));
    }
    EXPECT_EQ(table.words[8], word(0x400, kNoCfi));
}

TEST(BuildTable, DropsRulesForWhichThereIsNoSpecialLeft) {
    BuiltTable table;
    for (std::int32_t i = 1; i < abi::MAX_SPECIAL_RULES; ++i) {
        ASSERT_TRUE(encode_rule(rule_rsp(-8 * i), table.shared->specials));
    }
    RowsBuilder builder(0);
    builder.add(0x00, rule_rsp(8))
        .add(0x40, rule_rsp(100000))  // not known, no room
        .add(0x44, rule_rsp(16))
        .add(0x80, rule_rsp(-8))  // known
        .add(0xc0, rule_rsp(100000))
        .add_gap(0x100);
    const Result<UnwindTable> result =
        build_table(builder.rows(), std::array{text_segment(0, 0, 0x1000)}, *table.shared);
    ASSERT_TRUE(result);
    static_cast<UnwindTable&>(table) = *result;
    EXPECT_EQ(table.rules_dropped, 2U);
    EXPECT_EQ(find_code(table, 0x3f), 1);
    EXPECT_EQ(find_code(table, 0x40), kNoCfi);  // not the rule before: this is no padding
    EXPECT_EQ(find_code(table, 0x44), 2);
    EXPECT_EQ(find_code(table, 0x80), abi::CODE_SPECIAL | 1);
    EXPECT_EQ(find_code(table, 0xc0), kNoCfi);
}

// 1,030 rules that need a special: 4,095 are free, so the first 1,023 get one.
TEST(BuildTable, GivesOneFileAQuarterOfTheSpecialsThatAreFree) {
    SharedRules shared;
    RowsBuilder first(0);
    RowsBuilder second(0);
    for (std::uint32_t i = 0; i < 1030; ++i) {
        first.add(32 * i, rule_rsp(100000 + 8 * static_cast<std::int32_t>(i)));
        second.add(32 * i, rule_rsp(200000 + 8 * static_cast<std::int32_t>(i)));
    }
    const std::array segments = {text_segment(0, 0, 0x10000)};
    const Result<UnwindTable> table = build_table(first.rows(), segments, shared);
    ASSERT_TRUE(table);
    EXPECT_EQ(table->rules_dropped, 7U);
    EXPECT_EQ(shared.specials.since(1).size(), 1023U);
    const Result<UnwindTable> again = build_table(first.rows(), segments, shared);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->rules_dropped, 0U) << "known rules are not counted again";
    const Result<UnwindTable> next = build_table(second.rows(), segments, shared);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->rules_dropped, 1030U - (4096 - 1031) / 4);
}

TEST(BuildTable, TakesNoSpecialForRowsOutsideTheText) {
    SharedRules shared;
    RowsBuilder builder(0);
    builder.add(0, rule_rsp(8)).add(0x1000, rule_rsp(100000)).add_gap(0x2000);
    ASSERT_TRUE(build_table(builder.rows(), std::array{text_segment(0, 0, 0x1000)}, shared));
    EXPECT_TRUE(shared.specials.since(1).empty());
}

TEST(BuildTable, IsEmptyWhereThereIsNothingToSay) {
    const RowsBuilder some = RowsBuilder(0x1000).add(0, rule_rsp(8)).add_gap(0x100);
    for (const BuiltTable& table :
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
    const BuiltTable table = build(RowsBuilder(0).add(0, rule_rsp(8)).add_gap(0xffffffff),
                                   std::array{text_segment(0x30000, 0, kFourGib)});
    EXPECT_EQ(table.granule_count, 0x40000U);
    EXPECT_EQ(find_code(table, 0x30000 + kFourGib - 2), 1);
    EXPECT_EQ(find_code(table, 0x30000 + kFourGib - 1), kNoCfi);
    EXPECT_EQ(find_code(table, 0x30000 + kFourGib), kNoCfi);
}

TEST(BuildTable, SurvivesRowsAtTheEndOfTheAddressSpace) {
    constexpr std::uint64_t kBase = std::numeric_limits<std::uint64_t>::max() - 0xfff;
    const BuiltTable table =
        build(RowsBuilder(kBase).add(0, rule_rsp(8)).add(0xffffff00, rule_rsp(16)),
              std::array{text_segment(0x1000, kBase - 0x100, 0x1000)});
    EXPECT_EQ(find_code(table, 0x10ff), kNoCfi);
    EXPECT_EQ(find_code(table, 0x1100), 1);
    EXPECT_EQ(find_code(table, 0x1fff), 1);
}

TEST(BuildTable, RefusesRowsTooDenseForSoLongAText) {
    SharedRules shared;
    // 255 entries in 256 bytes want granules of 128, of which 2^32 bytes have 2^25; 2^20 lines are
    // the most.
    const RowsBuilder builder = one_row_a_byte(255).add(0xfffffff0, rule_rsp(8));
    const Result<UnwindTable> table =
        build_table(builder.rows(), std::array{text_segment(0, 0, std::uint64_t{1} << 32)}, shared);
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message(), ::testing::HasSubstr("too dense"));
}

// In granules of 128 bytes, each of which needs seven second lines and half of one: 8,738 of them
// have one more than there can be.
TEST(BuildTable, RefusesMoreSecondLinesThanLinksCanName) {
    SharedRules shared;
    constexpr std::uint32_t kRows = 8740 * 128;
    cfi::UnwindRows rows;
    rows.rules.emplace_back();
    for (std::int32_t i = 1; i <= 2000; ++i) {
        rows.rules.push_back(rule_rsp(8 * i));
    }
    rows.rows.reserve(kRows);
    std::minstd_rand random(1);  // no idiom comes again
    for (std::uint32_t i = 0; i < kRows; ++i) {
        rows.rows.push_back({i, 1 + 2 * (static_cast<std::uint32_t>(random()) % 1000) + i % 2});
    }
    const Result<UnwindTable> table =
        build_table(rows, std::array{text_segment(0, 0, kRows)}, shared);
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message(), ::testing::HasSubstr("too dense"));
}

// Different rows, one a byte: nearly all the second lines there can be, in five buckets.
TEST(BuildTable, FollowsLinksIntoOtherBuckets) {
    constexpr std::uint32_t kRows = 8736 * 128;
    std::minstd_rand random(1);
    RowsBuilder builder(0);
    for (std::uint32_t i = 0; i < kRows; ++i) {
        builder.add(i, rule_rsp(8 + 16 * static_cast<std::int32_t>(random() % 500) +
                                8 * static_cast<std::int32_t>(i % 2)));
    }
    const BuiltTable table = build(builder.add_gap(kRows), std::array{text_segment(0, 0, kRows)});
    ASSERT_GT(table.words.size(), 4 * std::size_t{abi::BUCKET_WORDS});
    EXPECT_EQ(table.granule_shift, unsigned{abi::MIN_GRANULE_SHIFT});
    for (std::uint32_t i = 0; i < kRows; ++i) {
        const cfi::UnwindRule& rule = builder.rows().rule_of(builder.rows().rows[i]);
        unsigned steps = 0;
        ASSERT_EQ(find_code(table, i, &steps), rule.cfa_offset / 8) << i;
        ASSERT_LE(steps, unsigned{abi::MAX_SEARCH_STEPS});
    }
}

TEST(BuildTable, IsTheSameForTheSameFilesInTheSameOrder) {
    const RowsBuilder few = RowsBuilder(0).add(0, rule_rsp(8)).add_gap(0x40);
    const auto words_of_both = [&] {
        SharedRules shared;
        const std::array segments = {text_segment(0, 0, 0x1000)};
        RowsBuilder many(0);
        for (std::uint32_t i = 0; i < 100; ++i) {
            many.add(36 * i, rule_rsp(8)).add(36 * i + 1 + i % 3, rule_rsp(16));
        }
        const auto first = build_table(many.rows(), segments, shared);
        const auto second = build_table(few.rows(), segments, shared);
        return std::pair(first->words, second->words);
    };
    EXPECT_EQ(words_of_both(), words_of_both());
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
        if (vaddr > 0x1000 && below(200) == 0) {
            longest = 1U << below(15);
        }
        if (vaddr < 0x1000 || below(10) == 0) {  // one of four idioms, of 3 to 12 rows
            const std::uint32_t idiom = below(4);
            for (std::uint32_t i = 0; i < 3 * idiom + 3; ++i, vaddr += 1 + idiom * i % 5) {
                builder.add(vaddr, rule_rsp(8 + 8 * static_cast<std::int32_t>(i + idiom)));
            }
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

    const BuiltTable table = build(builder, segments);
    const std::vector<std::uint16_t> codes =
        test::paint_codes(builder.rows(), segments, 0x70000, table.shared->specials);
    for (std::size_t offset = 0; offset < codes.size(); ++offset) {
        ASSERT_EQ(find_code(table, offset), codes[offset]) << "offset " << offset;
    }
    EXPECT_FALSE(table.shared->macros.since(0).empty()) << "nothing to test macros with";
}

INSTANTIATE_TEST_SUITE_P(BuildTable, RandomRows, ::testing::Range(0U, 24U));

}  // namespace
}  // namespace bobbin::unwind_table
