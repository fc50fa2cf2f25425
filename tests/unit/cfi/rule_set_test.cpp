// SPDX-License-Identifier: Apache-2.0
#include "cfi/rule_set.h"

#include <gtest/gtest.h>

#include <vector>

#include "cfi/unwind_row.h"

namespace bobbin::cfi {
namespace {

UnwindRule rule_with_offset(std::int32_t offset) {
    return {.cfa = CfaKind::kRegisterOffset, .cfa_register = kRsp, .cfa_offset = offset};
}

TEST(RuleSet, HasNumberZeroForNoCfi) {
    RuleSet rules;
    EXPECT_EQ(rules.number_of(UnwindRule{}), UnwindRows::kNoCfiRule);
}

TEST(RuleSet, NumbersRulesAsTheyComeAndEqualOnesAlike) {
    RuleSet rules;
    EXPECT_EQ(rules.number_of(rule_with_offset(8)), 1U);
    EXPECT_EQ(rules.number_of(rule_with_offset(16)), 2U);
    EXPECT_EQ(rules.number_of(rule_with_offset(8)), 1U);
    EXPECT_EQ(rules[2], rule_with_offset(16));
    EXPECT_EQ(rules.take().size(), 3U);
}

TEST(RuleSet, TellsRulesApartByEachOfTheirFields) {
    const UnwindRule base = rule_with_offset(8);
    std::vector<UnwindRule> variants(8, base);
    variants[0].cfa = CfaKind::kDerefRegister;
    variants[1].cfa_register = kRbp;
    variants[2].rbp = RbpKind::kAtCfa;
    variants[3].return_address = ReturnAddressKind::kUndefined;
    variants[4].signal_frame = true;
    variants[5].cfa_addend = 1;
    variants[6].rbp_offset = 1;
    variants[7].ra_offset = 1;
    RuleSet rules;
    (void)rules.number_of(base);
    for (std::uint32_t i = 0; i < variants.size(); ++i) {
        EXPECT_EQ(rules.number_of(variants[i]), i + 2);
    }
}

// Multiples of 8 are what real rules have; all rules of libxul are 1,332.
TEST(RuleSet, TakesThirtyTimesWhatTheRichestFileHas) {
    constexpr std::int32_t kCount = 40000;
    RuleSet rules;
    for (std::int32_t i = 1; i <= kCount; ++i) {
        ASSERT_EQ(rules.number_of(rule_with_offset(i * 8)), static_cast<std::uint32_t>(i));
    }
    for (std::int32_t i = 1; i <= kCount; ++i) {
        ASSERT_EQ(rules.number_of(rule_with_offset(i * 8)), static_cast<std::uint32_t>(i));
    }
}

TEST(RuleSet, RefusesMoreThanItsLimit) {
    RuleSet rules;
    bool refused = false;
    for (std::int32_t i = 1; i <= static_cast<std::int32_t>(RuleSet::kMaxRules); ++i) {
        refused = rules.number_of(rule_with_offset(i * 8)) == RuleSet::kNoNumber || refused;
    }
    EXPECT_TRUE(refused);
    EXPECT_LE(rules.take().size(), RuleSet::kMaxRules);
}

}  // namespace
}  // namespace bobbin::cfi
