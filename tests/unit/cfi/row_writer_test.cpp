// SPDX-License-Identifier: Apache-2.0
#include "cfi/row_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace bobbin::cfi {
namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;

std::vector<std::pair<std::uint32_t, std::uint32_t>> take_pairs(RowWriter& writer) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const UnwindRow& row : writer.take()) pairs.emplace_back(row.vaddr_from_base, row.rule);
    return pairs;
}

using testing::ElementsAre;
using testing::Pair;

TEST(RowWriter, BeginsWithNoCfiAtItsBase) {
    RowWriter writer(kBase, 0);
    EXPECT_THAT(take_pairs(writer), ElementsAre(Pair(0, 0)));
}

TEST(RowWriter, ReplacesTheEndOfAFunctionByTheStartOfTheNext) {
    RowWriter writer(kBase, 8);
    writer.append(kBase, 1);
    writer.append(kBase + 16, 0);
    writer.append(kBase + 16, 2);
    writer.append(kBase + 32, 0);
    EXPECT_THAT(take_pairs(writer), ElementsAre(Pair(0, 1), Pair(16, 2), Pair(32, 0)));
}

TEST(RowWriter, JoinsNeighboursOfOneRule) {
    RowWriter writer(kBase, 8);
    writer.append(kBase, 1);
    writer.append(kBase + 8, 1);
    writer.append(kBase + 16, 0);
    writer.append(kBase + 16, 1);
    writer.append(kBase + 32, 0);
    EXPECT_THAT(take_pairs(writer), ElementsAre(Pair(0, 1), Pair(32, 0)));
}

TEST(RowWriter, AppendsAWholeFunctionAsItDoesItsRows) {
    constexpr UnwindRow kFunctions[][3] = {{{0, 1}, {8, 2}, {16, 0}},
                                           {{16, 2}, {20, 1}, {24, 0}},
                                           {{24, 1}, {28, 2}, {32, 0}},
                                           {{40, 1}, {48, 3}, {56, 0}}};
    RowWriter at_once(kBase, 8);
    RowWriter row_by_row(kBase, 8);
    for (const auto& function : kFunctions) {
        at_once.append_function(function);
        for (const UnwindRow& row : function) {
            row_by_row.append(kBase + row.vaddr_from_base, row.rule);
        }
    }
    const auto rows = take_pairs(at_once);
    EXPECT_EQ(rows, take_pairs(row_by_row));
    EXPECT_THAT(rows, ElementsAre(Pair(0, 1), Pair(8, 2), Pair(20, 1), Pair(28, 2), Pair(32, 0),
                                  Pair(40, 1), Pair(48, 3), Pair(56, 0)));
}

TEST(RowWriter, TakesAFunctionBackWhetherItsFirstRowReplacedOneOrJoinedOne) {
    for (const std::uint32_t first_rule : {1U, 2U}) {
        RowWriter writer(kBase, 8);
        writer.append(kBase, 1);
        writer.append(kBase + 16, 0);
        writer.begin_function();
        writer.append(kBase + 16, first_rule);
        writer.append(kBase + 24, 3);
        writer.append(kBase + 32, 0);
        writer.take_back_function();
        EXPECT_THAT(take_pairs(writer), ElementsAre(Pair(0, 1), Pair(16, 0)));
    }
}

}  // namespace
}  // namespace bobbin::cfi
