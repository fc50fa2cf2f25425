// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "unit/unwind_table/table_reference.h"
#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

using test::rule_rbp;
using test::rule_rsp;

std::string describe(const cfi::UnwindRule& rule) {
    SpecialRules specials;
    const std::optional<std::uint16_t> code = encode_rule(rule, specials);
    return code ? describe_code(*code, specials.since(0)) : "not encoded";
}

TEST(DescribeCode, WritesPlainRulesAsFormulas) {
    EXPECT_EQ(describe(rule_rsp(8)), "cfa = rsp + 8; rbp = same; ra = *(cfa - 8)");
    EXPECT_EQ(describe(rule_rbp(16, -16)), "cfa = rbp + 16; rbp = *(cfa - 16); ra = *(cfa - 8)");
    EXPECT_EQ(describe(rule_rbp(8 * 2047, -56)),
              "cfa = rbp + 16376; rbp = *(cfa - 56); ra = *(cfa - 8)");
}

TEST(DescribeCode, WritesSpecialRulesAsFormulas) {
    EXPECT_EQ(describe(rule_rsp(65552)), "cfa = rsp + 65552; rbp = same; ra = *(cfa - 8)");
    EXPECT_EQ(describe({.cfa = cfi::CfaKind::kDerefRegister,
                        .cfa_register = cfi::kRbp,
                        .rbp = cfi::RbpKind::kAtRbp,
                        .cfa_offset = -8,
                        .ra_offset = -8}),
              "cfa = *(rbp - 8); rbp = *(rbp); ra = *(cfa - 8)");
    EXPECT_EQ(describe({.cfa = cfi::CfaKind::kDerefRegister,
                        .cfa_register = cfi::kRsp,
                        .rbp = cfi::RbpKind::kUndefined,
                        .cfa_offset = 24,
                        .cfa_addend = 8,
                        .ra_offset = -8}),
              "cfa = *(rsp + 24) + 8; rbp = lost; ra = *(cfa - 8)");
    EXPECT_EQ(describe({.cfa = cfi::CfaKind::kRegisterOffset,
                        .cfa_register = 10,
                        .return_address = cfi::ReturnAddressKind::kInRegister,
                        .ra_offset = 5}),
              "cfa = r10; rbp = same; ra = rdi");
    EXPECT_EQ(describe({.cfa = cfi::CfaKind::kPlt, .cfa_offset = 11, .ra_offset = -8}),
              "cfa = rsp + 8 + ((rip & 15) >= 11 ? 8 : 0); rbp = same; ra = *(cfa - 8)");
}

TEST(DescribeCode, SaysWhereAWalkEnds) {
    EXPECT_EQ(describe({}), "no unwind information");
    EXPECT_EQ(describe({.cfa = cfi::CfaKind::kExpression}), "unsupported rule");
    cfi::UnwindRule rule = rule_rsp(8);
    rule.signal_frame = true;
    EXPECT_EQ(describe(rule), "signal frame: registers are in the ucontext at rsp");
    rule.signal_frame = false;
    rule.return_address = cfi::ReturnAddressKind::kUndefined;
    EXPECT_EQ(describe(rule), "outermost frame");
}

TEST(DescribeCode, ReadsTheIndexOfASpecialFromTwoFields) {
    std::vector<abi::special_rule> specials(2050);
    specials[2049].cfa = abi::SPECIAL_CFA_UNSUPPORTED;
    EXPECT_EQ(describe_code(0x3800 | 0x4000 | 1, specials), "unsupported rule");
    EXPECT_EQ(describe_code(0x3800 | 0x4000 | 2, specials), "special rule 2050, not known here");
    EXPECT_EQ(describe_code(abi::CODE_NO_CFI, {}), "no unwind information");
}

TEST(DescribeCode, WritesAMacroAsItsRulesAndWhereTheyBegin) {
    const std::array macros = {
        abi::macro{.starts = 0x7f7f7f7f7f7f0401,
                   .codes = {1, 2, 0x4802, 0x4802, 0x4802, 0x4802, 0x4802, 0x4802, 0x4802},
                   .unused = {}}};
    EXPECT_EQ(describe_code(abi::CODE_MACRO | 0, {}, macros),
              "+0 cfa = rsp + 8; rbp = same; ra = *(cfa - 8)"
              " | +1 cfa = rsp + 16; rbp = same; ra = *(cfa - 8)"
              " | +4 cfa = rbp + 16; rbp = *(cfa - 16); ra = *(cfa - 8)");
    EXPECT_EQ(describe_code(abi::CODE_MACRO | 1, {}, macros), "macro 1, not known here");
}

}  // namespace
}  // namespace bobbin::unwind_table
