// SPDX-License-Identifier: Apache-2.0
#include "profile/string_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bobbin::profile {
namespace {

TEST(StringTable, BeginsWithTheEmptyText) {
    StringTable table;
    EXPECT_EQ(table.index_of(""), 0);
    EXPECT_THAT(table.take(), testing::ElementsAre(""));
}

TEST(StringTable, ListsEachTextOnceInOrderOfFirstUse) {
    StringTable table;
    EXPECT_EQ(table.index_of("b"), 1);
    EXPECT_EQ(table.index_of("a"), 2);
    EXPECT_EQ(table.index_of("b"), 1);
    EXPECT_THAT(table.take(), testing::ElementsAre("", "b", "a"));
}

TEST(StringTable, HoldsOnlyUtf8) {
    StringTable table;
    table.index_of("\xFF");
    EXPECT_THAT(table.take(), testing::ElementsAre("", "\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace bobbin::profile
