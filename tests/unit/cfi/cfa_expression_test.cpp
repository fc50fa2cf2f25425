// SPDX-License-Identifier: Apache-2.0
#include "cfi/cfa_expression.h"

#include <gtest/gtest.h>

#include "unit/cfi/section_builder.h"

namespace bobbin::cfi {
namespace {

using test::Bytes;

UnwindRule cfa_of(const Bytes& expression) {
    UnwindRule rule;
    set_cfa_expression(expression.view(), rule);
    return rule;
}

UnwindRule rbp_of(const Bytes& expression) {
    UnwindRule rule;
    set_rbp_expression(expression.view(), rule);
    return rule;
}

UnwindRule unsupported_cfa() { return {.cfa = CfaKind::kExpression}; }

// DW_OP_breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus, as ld's elf_x86_64 emits it.
Bytes plt(int threshold_opcode) {
    return {0x77, 8, 0x80, 0, 0x3f, 0x1a, threshold_opcode, 0x2a, 0x33, 0x24, 0x22};
}

TEST(SetCfaExpression, KnowsThePltOfOldAndOfIbtBinaries) {
    const UnwindRule lazy = cfa_of(plt(0x3b));  // lit11: push is 5 bytes after a 6-byte jmp
    EXPECT_EQ(lazy.cfa, CfaKind::kPlt);
    EXPECT_EQ(lazy.cfa_offset, 11);
    const UnwindRule ibt = cfa_of(plt(0x39));  // lit9: endbr64, then push
    EXPECT_EQ(ibt.cfa, CfaKind::kPlt);
    EXPECT_EQ(ibt.cfa_offset, 9);
}

TEST(SetCfaExpression, TakesNothingForAPltThatDiffersFromItInOneByte) {
    for (std::size_t i = 0; i < plt(0x3b).size(); ++i) {
        Bytes changed = plt(0x3b);
        changed.storage()[i] ^= std::byte{0x40};
        EXPECT_NE(cfa_of(changed).cfa, CfaKind::kPlt) << "byte " << i;
    }
    EXPECT_EQ(cfa_of(plt(0x40)), unsupported_cfa());  // lit16: (rip & 15) never gets there
}

// gcc -O2 with a 32-byte aligned local: DW_OP_breg6 (rbp) -8; DW_OP_deref
TEST(SetCfaExpression, FollowsStackRealignment) {
    const UnwindRule rule = cfa_of({0x76, 0x78, 0x06});
    EXPECT_EQ(rule.cfa, CfaKind::kDerefRegister);
    EXPECT_EQ(rule.cfa_register, kRbp);
    EXPECT_EQ(rule.cfa_offset, -8);
    EXPECT_EQ(rule.cfa_addend, 0);
}

// OpenSSL's perlasm: DW_OP_breg7 (rsp) 152; DW_OP_deref; DW_OP_plus_uconst 8
TEST(SetCfaExpression, FollowsAStackPointerKeptOnTheStack) {
    const UnwindRule rule = cfa_of({0x77, 0x98, 0x01, 0x06, 0x23, 0x08});
    EXPECT_EQ(rule.cfa, CfaKind::kDerefRegister);
    EXPECT_EQ(rule.cfa_register, kRsp);
    EXPECT_EQ(rule.cfa_offset, 152);
    EXPECT_EQ(rule.cfa_addend, 8);
}

TEST(SetCfaExpression, TakesARegisterAndAnOffsetForWhatTheyAre) {
    const UnwindRule short_form = cfa_of({0x7a, 0x10});       // DW_OP_breg10 16
    const UnwindRule long_form = cfa_of({0x92, 0x0a, 0x10});  // DW_OP_bregx 10, 16
    EXPECT_EQ(short_form.cfa, CfaKind::kRegisterOffset);
    EXPECT_EQ(short_form.cfa_register, 10);
    EXPECT_EQ(short_form.cfa_offset, 16);
    EXPECT_EQ(long_form, short_form);
}

TEST(SetCfaExpression, GivesUpOnAnythingElse) {
    EXPECT_EQ(cfa_of({}), unsupported_cfa());
    EXPECT_EQ(cfa_of({0x77}), unsupported_cfa());                    // no offset
    EXPECT_EQ(cfa_of({0x77, 0x08, 0x96}), unsupported_cfa());        // DW_OP_nop
    EXPECT_EQ(cfa_of({0x77, 0x08, 0x06, 0x06}), unsupported_cfa());  // **(rsp+8)
    EXPECT_EQ(cfa_of({0x77, 0x08, 0x06, 0x23}), unsupported_cfa());  // no constant
    EXPECT_EQ(cfa_of({0x30}), unsupported_cfa());                    // DW_OP_lit0
    EXPECT_EQ(cfa_of(Bytes{0x92}.uleb128(256).sleb128(0)), unsupported_cfa());
    EXPECT_EQ(cfa_of(Bytes{0x77}.sleb128(std::int64_t{1} << 31)), unsupported_cfa());
    EXPECT_EQ(cfa_of(Bytes{0x77, 0, 0x06, 0x23}.uleb128(std::uint64_t{1} << 31)),
              unsupported_cfa());
}

TEST(SetCfaExpression, LeavesNothingOfTheRuleBefore) {
    UnwindRule rule = {.cfa = CfaKind::kDerefRegister, .cfa_register = 7};
    rule.cfa_offset = 1;
    rule.cfa_addend = 2;
    set_cfa_expression(Bytes{0x30}.view(), rule);
    EXPECT_EQ(rule, unsupported_cfa());
}

TEST(SetRbpExpression, FollowsStackRealignment) {
    const UnwindRule rule = rbp_of({0x76, 0x00});  // DW_OP_breg6 (rbp) 0
    EXPECT_EQ(rule.rbp, RbpKind::kAtRbp);
    EXPECT_EQ(rule.rbp_offset, 0);
    EXPECT_EQ(rbp_of({0x76, 0x70}).rbp_offset, -16);
}

TEST(SetRbpExpression, GivesUpOnAnythingElse) {
    EXPECT_EQ(rbp_of({0x77, 0xa0, 0x01}).rbp, RbpKind::kExpression);  // *(rsp+160): libgcrypt
    EXPECT_EQ(rbp_of({0x77, 0xa0, 0x01}).rbp_offset, 0);
    EXPECT_EQ(rbp_of({0x76, 0x00, 0x06}).rbp, RbpKind::kExpression);
    EXPECT_EQ(rbp_of({}).rbp, RbpKind::kExpression);
}

}  // namespace
}  // namespace bobbin::cfi
