// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/unwind_table/table_reference.h"
#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

using cfi::CfaKind;
using cfi::RbpKind;
using cfi::ReturnAddressKind;
using cfi::UnwindRule;
using test::rule_rbp;
using test::rule_rsp;

bool is_special(std::uint16_t code) { return (code >> 11 & 7) == 7; }

// The special that `rule` becomes, with an empty set of specials.
abi::special_rule special_of(const UnwindRule& rule) {
    SpecialRules specials;
    const std::optional<std::uint16_t> code = encode_rule(rule, specials);
    EXPECT_TRUE(code && is_special(*code));
    const std::vector<abi::special_rule> added = specials.since(1);
    EXPECT_EQ(added.size(), 1U);
    EXPECT_EQ(code.value_or(0), abi::CODE_SPECIAL | 1);
    return added.empty() ? abi::special_rule{} : added.front();
}

bool are_same_special(const UnwindRule& a, const UnwindRule& b) {
    SpecialRules specials;
    return encode_rule(a, specials) == encode_rule(b, specials);
}

TEST(EncodeRule, CountsTheCfaInWordsFromRspOrRbp) {
    SpecialRules specials;
    EXPECT_EQ(encode_rule(rule_rsp(8), specials), 1);
    EXPECT_EQ(encode_rule(rule_rsp(16), specials), 2);
    EXPECT_EQ(encode_rule(rule_rsp(8 * 2047), specials), 2047);
    UnwindRule from_rbp = rule_rsp(16);
    from_rbp.cfa_register = cfi::kRbp;
    EXPECT_EQ(encode_rule(from_rbp, specials), 0x4000 | 2);
    EXPECT_TRUE(specials.since(1).empty());
}

TEST(EncodeRule, CountsTheSlotOfRbpDownFromTheReturnAddress) {
    SpecialRules specials;
    EXPECT_EQ(encode_rule(rule_rbp(16, -16), specials), 0x4000 | 1 << 11 | 2);
    EXPECT_EQ(encode_rule(rule_rbp(16, -56), specials), 0x4000 | 6 << 11 | 2);
    UnwindRule from_rsp = rule_rbp(48, -24);
    from_rsp.cfa_register = cfi::kRsp;
    EXPECT_EQ(encode_rule(from_rsp, specials), 2 << 11 | 6);
    EXPECT_TRUE(specials.since(1).empty());
}

TEST(EncodeRule, MakesASpecialOfACfaOffsetThatDoesNotFit) {
    for (const std::int32_t offset : {8 * 2048, 0, -8, 12}) {
        const abi::special_rule special = special_of(rule_rsp(offset));
        EXPECT_EQ(special.cfa, abi::SPECIAL_CFA_RSP);
        EXPECT_EQ(special.cfa_offset, offset);
        EXPECT_EQ(special.rbp, abi::SPECIAL_RBP_SAME);
        EXPECT_EQ(special.return_address, abi::SPECIAL_RA_AT_CFA);
        EXPECT_EQ(special.ra_offset, -8);
    }
}

TEST(EncodeRule, MakesASpecialOfAnRbpSlotThatDoesNotFit) {
    for (const std::int32_t offset : {-8, -64, -20, 0, 16}) {
        const abi::special_rule special = special_of(rule_rbp(16, offset));
        EXPECT_EQ(special.cfa, abi::SPECIAL_CFA_RBP);
        EXPECT_EQ(special.rbp, abi::SPECIAL_RBP_AT_CFA);
        EXPECT_EQ(special.rbp_offset, offset);
    }
}

TEST(EncodeRule, KeepsTheRegisterOfACfaThatOnlyTheLeafKnows) {
    UnwindRule rule = rule_rsp(0);
    rule.cfa_register = 10;
    const abi::special_rule special = special_of(rule);
    EXPECT_EQ(special.cfa, abi::SPECIAL_CFA_REGISTER);
    EXPECT_EQ(special.cfa_register, 10);
    EXPECT_EQ(special.cfa_offset, 0);
}

// gcc's stack realignment: cfa = *(rbp - 8), rbp = *(rbp + 0).
TEST(EncodeRule, KeepsBothOffsetsOfADereferencedCfa) {
    UnwindRule rule{.cfa = CfaKind::kDerefRegister,
                    .cfa_register = cfi::kRbp,
                    .rbp = RbpKind::kAtRbp,
                    .cfa_offset = -8,
                    .ra_offset = -8};
    abi::special_rule special = special_of(rule);
    EXPECT_EQ(special.cfa, abi::SPECIAL_CFA_DEREF_RBP);
    EXPECT_EQ(special.cfa_offset, -8);
    EXPECT_EQ(special.rbp, abi::SPECIAL_RBP_AT_RBP);
    EXPECT_EQ(special.rbp_offset, 0);

    rule.cfa_register = cfi::kRsp;
    rule.cfa_offset = 24;
    rule.cfa_addend = 8;
    special = special_of(rule);
    EXPECT_EQ(special.cfa, abi::SPECIAL_CFA_DEREF_RSP);
    EXPECT_EQ(special.cfa_offset, 24);
    EXPECT_EQ(special.cfa_addend, 8);
}

TEST(EncodeRule, KeepsTheThresholdOfAPlt) {
    const abi::special_rule special =
        special_of({.cfa = CfaKind::kPlt, .cfa_offset = 11, .ra_offset = -8});
    EXPECT_EQ(special.cfa, abi::SPECIAL_CFA_PLT);
    EXPECT_EQ(special.cfa_offset, 11);
    EXPECT_EQ(special.ra_offset, -8);
}

TEST(EncodeRule, KeepsWhereAReturnAddressIsElse) {
    UnwindRule rule = rule_rsp(8);
    rule.ra_offset = -16;
    EXPECT_EQ(special_of(rule).ra_offset, -16);

    rule.return_address = ReturnAddressKind::kInRegister;
    rule.ra_offset = 5;  // vfork of glibc: rdi
    const abi::special_rule special = special_of(rule);
    EXPECT_EQ(special.return_address, abi::SPECIAL_RA_REGISTER);
    EXPECT_EQ(special.ra_register, 5);
    EXPECT_EQ(special.ra_offset, 0);
}

TEST(EncodeRule, HasOneSpecialForTheOutermostFrame) {
    UnwindRule start = rule_rsp(8);
    start.return_address = ReturnAddressKind::kUndefined;
    start.ra_offset = 0;
    EXPECT_EQ(special_of(start).return_address, abi::SPECIAL_RA_UNDEFINED);

    UnwindRule clone{.cfa = CfaKind::kExpression,
                     .rbp = RbpKind::kUndefined,
                     .return_address = ReturnAddressKind::kUndefined};
    EXPECT_TRUE(are_same_special(start, clone));
}

TEST(EncodeRule, HasOneSpecialForSignalFrames) {
    UnwindRule with_expression{.cfa = CfaKind::kExpression,
                               .rbp = RbpKind::kExpression,
                               .return_address = ReturnAddressKind::kExpression,
                               .signal_frame = true};
    UnwindRule with_offsets = rule_rbp(16, -16);
    with_offsets.signal_frame = true;
    EXPECT_EQ(special_of(with_expression).cfa, abi::SPECIAL_CFA_SIGNAL_FRAME);
    EXPECT_TRUE(are_same_special(with_expression, with_offsets));
}

TEST(EncodeRule, HasOneSpecialForWhatTheKernelCannotDo) {
    const UnwindRule expression{
        .cfa = CfaKind::kExpression, .rbp = RbpKind::kAtCfa, .rbp_offset = -16, .ra_offset = -8};
    EXPECT_EQ(special_of(expression).cfa, abi::SPECIAL_CFA_UNSUPPORTED);

    const UnwindRule deref_rax{
        .cfa = CfaKind::kDerefRegister, .cfa_register = 0, .cfa_offset = 8, .ra_offset = -8};
    EXPECT_TRUE(are_same_special(expression, deref_rax));

    UnwindRule return_address_expression = rule_rsp(8);
    return_address_expression.return_address = ReturnAddressKind::kExpression;
    return_address_expression.ra_offset = 0;
    EXPECT_TRUE(are_same_special(expression, return_address_expression));

    UnwindRule from_xmm0 = rule_rsp(8);
    from_xmm0.cfa_register = 17;
    EXPECT_TRUE(are_same_special(expression, from_xmm0));

    UnwindRule return_address_in_xmm0 = rule_rsp(8);
    return_address_in_xmm0.return_address = ReturnAddressKind::kInRegister;
    return_address_in_xmm0.ra_offset = 17;
    EXPECT_TRUE(are_same_special(expression, return_address_in_xmm0));
}

TEST(EncodeRule, LosesRbpWhereItCannotBeRead) {
    UnwindRule undefined = rule_rsp(16);
    undefined.rbp = RbpKind::kUndefined;
    const abi::special_rule special = special_of(undefined);
    EXPECT_EQ(special.cfa, abi::SPECIAL_CFA_RSP);
    EXPECT_EQ(special.cfa_offset, 16);
    EXPECT_EQ(special.rbp, abi::SPECIAL_RBP_LOST);
    EXPECT_EQ(special.rbp_offset, 0);

    UnwindRule in_register = undefined;
    in_register.rbp = RbpKind::kInRegister;
    in_register.rbp_offset = 3;
    EXPECT_TRUE(are_same_special(undefined, in_register));
    UnwindRule expression = undefined;
    expression.rbp = RbpKind::kExpression;
    EXPECT_TRUE(are_same_special(undefined, expression));
}

TEST(EncodeRule, TakesNoSpecialForNoCfi) {
    SpecialRules specials;
    EXPECT_EQ(encode_rule({}, specials), abi::CODE_NO_CFI);
    EXPECT_EQ(specials.since(0).size(), 1U);
}

TEST(EncodeRule, PutsTheTwelfthBitOfASpecialsIndexIntoTheBaseBit) {
    SpecialRules specials;
    std::optional<std::uint16_t> code;
    for (std::int32_t i = 1; i <= 2047; ++i) {
        code = encode_rule(rule_rsp(-8 * i), specials);
    }
    EXPECT_EQ(code, 0x3800 | 2047);
    EXPECT_EQ(encode_rule(rule_rsp(-8 * 2048), specials), 0x3800 | 0x4000 | 0);
    EXPECT_EQ(encode_rule(rule_rsp(-8 * 2049), specials), 0x3800 | 0x4000 | 1);
}

TEST(EncodeRule, RefusesANewSpecialOnceAllAreInUse) {
    SpecialRules specials;
    for (std::int32_t i = 1; i < abi::MAX_SPECIAL_RULES; ++i) {
        ASSERT_TRUE(encode_rule(rule_rsp(-8 * i), specials)) << i;
    }
    EXPECT_EQ(encode_rule(rule_rsp(-8 * abi::MAX_SPECIAL_RULES), specials), std::nullopt);
    EXPECT_EQ(encode_rule(rule_rsp(-8), specials), abi::CODE_SPECIAL | 1);
    EXPECT_EQ(encode_rule(rule_rsp(8), specials), 1);
    EXPECT_EQ(specials.since(0).size(), std::size_t{abi::MAX_SPECIAL_RULES});
}

}  // namespace
}  // namespace bobbin::unwind_table
