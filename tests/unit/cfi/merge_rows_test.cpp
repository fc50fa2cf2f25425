// SPDX-License-Identifier: Apache-2.0
#include "cfi/merge_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "cfi/rule_set.h"
#include "unit/cfi/one_function.h"

namespace bobbin::cfi {
namespace {

using test::Rows;
using test::with_cfa;

const UnwindRule kNoCfi;

// Where each rule begins to hold; an offset of 0 is "no CFI".
UnwindRows make_rows(const std::vector<std::pair<std::uint64_t, std::int32_t>>& starts) {
    UnwindRows unwind;
    unwind.rules.push_back(kNoCfi);
    unwind.base_file_vaddr = starts.front().first;
    for (const auto& [file_vaddr, offset] : starts) {
        std::uint32_t number = UnwindRows::kNoCfiRule;
        if (offset != 0) {
            number = static_cast<std::uint32_t>(unwind.rules.size());
            unwind.rules.push_back(with_cfa(kRsp, offset));
        }
        unwind.rows.push_back(
            {static_cast<std::uint32_t>(file_vaddr - unwind.base_file_vaddr), number});
    }
    return unwind;
}

Rows merged(const UnwindRows& primary, const UnwindRows& behind) {
    EhFrame frame;
    frame.unwind = merge_rows(primary, behind);
    frame.fde_count = frame.unwind.rows.size();
    return test::rows_of(frame);
}

TEST(MergeRows, FillsTheGapsOfTheFirstFromTheSecond) {
    const UnwindRows primary = make_rows({{0x2000, 8}, {0x2010, 0}, {0x3000, 16}, {0x3010, 0}});
    const UnwindRows behind = make_rows({{0x1000, 24}, {0x2008, 32}, {0x2018, 40}, {0x4000, 0}});
    EXPECT_EQ(merged(primary, behind), (Rows{{0x1000, with_cfa(kRsp, 24)},
                                             {0x2000, with_cfa(kRsp, 8)},
                                             {0x2010, with_cfa(kRsp, 32)},
                                             {0x2018, with_cfa(kRsp, 40)},
                                             {0x3000, with_cfa(kRsp, 16)},
                                             {0x3010, with_cfa(kRsp, 40)},
                                             {0x4000, kNoCfi}}));
}

TEST(MergeRows, JoinsNeighboursThatAgreeAcrossTheSeam) {
    const UnwindRows primary = make_rows({{0x1000, 8}, {0x1010, 0}});
    const UnwindRows behind = make_rows({{0x1010, 8}, {0x1020, 16}, {0x1030, 0}});
    EXPECT_EQ(merged(primary, behind),
              (Rows{{0x1000, with_cfa(kRsp, 8)}, {0x1020, with_cfa(kRsp, 16)}, {0x1030, kNoCfi}}));
}

TEST(MergeRows, LeavesAGapThatNeitherFills) {
    const UnwindRows primary = make_rows({{0x1000, 8}, {0x1010, 0}});
    const UnwindRows behind = make_rows({{0x2000, 16}, {0x2010, 0}});
    const Rows expected = {{0x1000, with_cfa(kRsp, 8)},
                           {0x1010, kNoCfi},
                           {0x2000, with_cfa(kRsp, 16)},
                           {0x2010, kNoCfi}};
    EXPECT_EQ(merged(primary, behind), expected);
    EXPECT_EQ(merged(behind, primary), expected);
}

TEST(MergeRows, IsTheOneWhereTheOtherIsEmpty) {
    const UnwindRows some = make_rows({{0x1000, 8}, {0x1010, 0}});
    UnwindRows none;
    none.rules.push_back(kNoCfi);
    const Rows expected = {{0x1000, with_cfa(kRsp, 8)}, {0x1010, kNoCfi}};
    EXPECT_EQ(merged(some, none), expected);
    EXPECT_EQ(merged(none, some), expected);
    EXPECT_TRUE(merge_rows(none, none).rows.empty());
}

// A row holds 32 bits of address.
TEST(MergeRows, CutsOffWhatLiesFourGigabytesFromTheFirst) {
    constexpr std::uint64_t kBase = std::uint64_t{1} << 40;
    const UnwindRows primary = make_rows({{kBase, 8}, {kBase + 0x10, 0}});
    const UnwindRows above = make_rows({{kBase + 0xfffffff0, 16}, {kBase + 0x1000000f0, 0}});
    EXPECT_EQ(merged(primary, above), (Rows{{kBase, with_cfa(kRsp, 8)},
                                            {kBase + 0x10, kNoCfi},
                                            {kBase + 0xfffffff0, with_cfa(kRsp, 16)},
                                            {kBase + 0xffffffff, kNoCfi}}));
    const UnwindRows below = make_rows({{0x1000, 24}, {0x1010, 0}});
    EXPECT_EQ(merged(primary, below), (Rows{{kBase, with_cfa(kRsp, 8)}, {kBase + 0x10, kNoCfi}}));
    const UnwindRows across = make_rows({{kBase - 0xfffffff0, 24}, {kBase + 0x8, 0}});
    EXPECT_EQ(merged(primary, across), (Rows{{kBase, with_cfa(kRsp, 8)}, {kBase + 0x10, kNoCfi}}));
    EXPECT_EQ(merged(across, primary), (Rows{{kBase - 0xfffffff0, with_cfa(kRsp, 24)},
                                             {kBase + 0x8, with_cfa(kRsp, 8)},
                                             {kBase + 0xf, kNoCfi}}));
}

TEST(MergeRows, EndsAtTheLastAddressThereIs) {
    constexpr std::uint64_t kLast = ~std::uint64_t{0};
    const UnwindRows primary = make_rows({{kLast - 0x20, 8}, {kLast - 0x10, 0}});
    const UnwindRows behind = make_rows({{kLast - 0x18, 16}, {kLast, 0}});
    EXPECT_EQ(merged(primary, behind), (Rows{{kLast - 0x20, with_cfa(kRsp, 8)},
                                             {kLast - 0x10, with_cfa(kRsp, 16)},
                                             {kLast, kNoCfi}}));
}

TEST(MergeRows, LeavesOutRulesBeyondWhatARuleSetHolds) {
    std::vector<std::pair<std::uint64_t, std::int32_t>> many;
    for (std::uint64_t i = 0; i + 1 < RuleSet::kMaxRules; ++i) {
        many.emplace_back(0x1000 + i, 8 + static_cast<std::int32_t>(i));
    }
    const std::uint64_t end = 0x1000 + many.size();
    many.emplace_back(end, 0);
    const UnwindRows behind = make_rows({{end, 4}, {end + 8, 8}, {end + 16, 0}});
    const Rows rows = merged(make_rows(many), behind);
    ASSERT_EQ(rows.size(), many.size() + 2);
    EXPECT_EQ(rows[many.size() - 1], std::pair(end, kNoCfi));  // its 4 found no room
    EXPECT_EQ(rows[many.size()], std::pair(end + 8, with_cfa(kRsp, 8)));
}

}  // namespace
}  // namespace bobbin::cfi
