// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/special_rules.h"

#include <gtest/gtest.h>

#include <thread>

#include "unit/unwind_table/table_reference.h"

namespace bobbin::unwind_table {
namespace {

using test::rsp_plus;

TEST(SpecialRules, BeginsWithNoCfiAlone) {
    SpecialRules specials;
    EXPECT_EQ(specials.since(0).size(), 1U);
    EXPECT_EQ(specials.since(0).front().cfa, abi::SPECIAL_CFA_NONE);
    EXPECT_EQ(specials.index_of(abi::special_rule{}), 0);
}

TEST(SpecialRules, GivesEqualRulesOneIndex) {
    SpecialRules specials;
    EXPECT_EQ(specials.index_of(rsp_plus(1)), 1);
    EXPECT_EQ(specials.index_of(rsp_plus(2)), 2);
    EXPECT_EQ(specials.index_of(rsp_plus(1)), 1);
}

TEST(SpecialRules, ShowsWhatCameSince) {
    SpecialRules specials;
    ASSERT_EQ(specials.index_of(rsp_plus(10)), 1);
    ASSERT_EQ(specials.index_of(rsp_plus(20)), 2);
    const std::vector<abi::special_rule> added = specials.since(2);
    ASSERT_EQ(added.size(), 1U);
    EXPECT_EQ(added.front().cfa_offset, 20);
    EXPECT_TRUE(specials.since(3).empty());
    EXPECT_TRUE(specials.since(1000).empty());
}

TEST(SpecialRules, AgreesAmongThreads) {
    constexpr std::int32_t kRules = 1000;
    SpecialRules specials;
    std::vector<std::optional<std::uint16_t>> up(kRules);
    std::vector<std::optional<std::uint16_t>> down(kRules);
    std::thread other([&] {
        for (std::int32_t i = kRules - 1; i >= 0; --i) {
            down[static_cast<std::size_t>(i)] = specials.index_of(rsp_plus(i));
        }
    });
    for (std::int32_t i = 0; i < kRules; ++i) {
        up[static_cast<std::size_t>(i)] = specials.index_of(rsp_plus(i));
    }
    other.join();
    EXPECT_EQ(up, down);
    EXPECT_EQ(specials.since(1).size(), std::size_t{kRules});
}

}  // namespace
}  // namespace bobbin::unwind_table
