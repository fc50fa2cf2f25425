// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "unit/cfi/one_function.h"
#include "unit/cfi/section_builder.h"

// Each call frame instruction of DWARF 5 section 6.4.2, by its number in table 7.29. The CIE has
// data alignment -8 and begins with cfa = rsp + 8, ra = *(cfa - 8).
namespace bobbin::cfi {
namespace {

using test::Bytes;
using test::is_refused;
using test::kAtEntry;
using test::kLength;
using test::kStart;
using test::rule_after;
using test::rule_at_entry;
using test::run;
using test::with_cfa;
using test::with_rbp;
using test::with_return_address;

TEST(CfaProgram, BeginsWithTheRuleOfTheCie) {
    EXPECT_EQ(rule_after({}), rule_at_entry());
    EXPECT_EQ(rule_after({0x00, 0x00}), rule_at_entry());  // nop
}

TEST(CfaProgram, AdvancesByEachWidthInUnitsOfCodeAlignment) {
    const Bytes programs[] = {
        Bytes{0x40 | 5}.append({0x0e, 16}),     // advance_loc 5
        Bytes{0x02, 5}.append({0x0e, 16}),      // advance_loc1
        Bytes{0x03}.u16(5).append({0x0e, 16}),  // advance_loc2
        Bytes{0x04}.u32(5).append({0x0e, 16}),  // advance_loc4
    };
    for (const Bytes& program : programs) {
        const test::Rows plain = run(program);
        ASSERT_EQ(plain.size(), 2U);
        EXPECT_EQ(plain[0], std::pair(kStart, rule_at_entry()));
        EXPECT_EQ(plain[1], std::pair(kStart + 5, with_cfa(kRsp, 16)));
        const test::Rows scaled = run(program, {.code_alignment = 4});
        ASSERT_EQ(scaled.size(), 2U);
        EXPECT_EQ(scaled[1].first, kStart + 20);
    }
}

TEST(CfaProgram, SetsTheLocationByAPointerOfTheCiesEncoding) {
    const test::Rows rows = run(Bytes{0x01}.u64(kStart + 0x20).append({0x0e, 16}));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[1], std::pair(kStart + 0x20, with_cfa(kRsp, 16)));
    EXPECT_TRUE(is_refused(Bytes{0x01}.u64(kStart - 1)));  // backwards
    EXPECT_TRUE(is_refused(Bytes{0x01}.u32(0)));           // truncated
}

TEST(CfaProgram, CountsAPcRelativeLocationFromTheOperand) {
    constexpr std::uint64_t kSection = 0x500000;
    test::SectionBuilder section;
    const std::uint32_t cie = section.add_cie({.augmentation_data = {0x1b}});
    // The start lies 8 bytes behind the FDE; of the instructions, 1 + 8 + 1 bytes later, byte 1 is
    // the operand of set_loc.
    const std::uint64_t start_field = kSection + section.size() + 8;
    const std::uint64_t operand = start_field + 4 + 4 + 1 + 1;
    section.add_fde_with_pointers(cie, Bytes().u32(kStart - start_field).u32(kLength),
                                  Bytes{0, 0x01}.u32(kStart + 0x20 - operand).append({0x0e, 16}));
    const Result<EhFrame> frame = read_eh_frame(section.view(), kSection);
    ASSERT_TRUE(frame);
    const test::Rows rows = test::rows_of(*frame);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[1].first, kStart + 0x20);
}

TEST(CfaProgram, LetsTheLastOfSeveralChangesAtOneAddressStand) {
    const test::Rows rows = run({0x0e, 16, 0x0e, 24, 0x44, 0x0e, 32, 0x40, 0x0e, 40});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0], std::pair(kStart, with_cfa(kRsp, 24)));
    EXPECT_EQ(rows[1], std::pair(kStart + 4, with_cfa(kRsp, 40)));
}

TEST(CfaProgram, MakesNoRowWhereNothingItKeepsHasChanged) {
    // advance; offset rbx; advance; def_cfa_offset 8, which it is
    EXPECT_EQ(rule_after({0x41, 0x83, 2, 0x41, 0x0e, 8}), rule_at_entry());
}

TEST(CfaProgram, LooksAtNothingPastTheEndOfTheFunction) {
    const test::Rows rows = run(Bytes{0x03}.u16(kLength).append({0x0e, 16, 0x3f}));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].second, rule_at_entry());
}

TEST(CfaProgram, DefinesTheCfa) {
    EXPECT_EQ(rule_after({0x0c, 6, 16}), with_cfa(kRbp, 16));        // def_cfa rbp, 16
    EXPECT_EQ(rule_after({0x12, 6, 0x7e}), with_cfa(kRbp, 16));      // def_cfa_sf rbp, -2 * -8
    EXPECT_EQ(rule_after({0x0d, 6}), with_cfa(kRbp, 8));             // def_cfa_register rbp
    EXPECT_EQ(rule_after({0x0e, 0x90, 0x01}), with_cfa(kRsp, 144));  // def_cfa_offset 144
    EXPECT_EQ(rule_after({0x13, 0x7d}), with_cfa(kRsp, 24));         // def_cfa_offset_sf -3 * -8
    EXPECT_EQ(rule_after({0x0c, 10, 0}), with_cfa(10, 0));           // def_cfa r10, 0
}

// What gcc makes of __builtin_eh_return, at the end of _Unwind_Resume:
//     mov %rcx,%rsp     cfa = rcx + 8
//     pop %rcx          cfa = rsp + 8
//     jmp *%rcx         cfa = rsp, ra = rcx; what follows has the state of before
TEST(CfaProgram, KnowsTheEndOfAFunctionThatEntersALandingPad) {
    const test::Rows rows = run({0x0a,              // remember_state
                                 0x0c, 2, 8,        // def_cfa rcx, 8
                                 0x43, 0x0c, 7, 8,  // 3 on: def_cfa rsp, 8
                                 0x41, 0x0e, 0,     // 1 on: def_cfa_offset 0
                                 0x09, 16, 2,       // register ra, rcx
                                 0x42, 0x0b});      // 2 on: restore_state
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_TRUE(rows[0].second.enters_landing_pad);
    EXPECT_TRUE(rows[1].second.enters_landing_pad);
    EXPECT_TRUE(rows[2].second.enters_landing_pad);
    EXPECT_FALSE(rows[3].second.enters_landing_pad);
    EXPECT_FALSE(rule_after({0x0c, 2, 16}).enters_landing_pad);
    EXPECT_FALSE(rule_after({0x0c, 10, 8}).enters_landing_pad);
}

TEST(CfaProgram, DefinesTheCfaByAnExpression) {
    const UnwindRule rule = rule_after(Bytes{0x0f}.block({0x76, 0x78, 0x06}));
    EXPECT_EQ(rule.cfa, CfaKind::kDerefRegister);
    EXPECT_EQ(rule.cfa_register, kRbp);
    EXPECT_EQ(rule.cfa_offset, -8);
    EXPECT_EQ(rule.ra_offset, -8);
}

// What libgcrypt's AVX2 code has at its end: the expression is replaced by a register, and the
// offset is the one from before the expression (libgcc's execute_cfa_program, readelf).
TEST(CfaProgram, GoesFromAnExpressionBackToTheOffsetOfBefore) {
    const Bytes expression = Bytes{0x0f}.block({0x77, 0x08, 0x06});
    EXPECT_EQ(rule_after(Bytes{0x0e, 56}.append(expression).append({0x0d, 7})), with_cfa(kRsp, 56));
    // A def_cfa_offset between the two counts as well; alone it does not end the expression.
    EXPECT_EQ(rule_after(Bytes(expression).append({0x0e, 40, 0x0d, 7})), with_cfa(kRsp, 40));
    EXPECT_EQ(rule_after(Bytes(expression).append({0x0e, 40})).cfa, CfaKind::kDerefRegister);
}

TEST(CfaProgram, SavesRbpAndTheReturnAddressRelativeToTheCfa) {
    EXPECT_EQ(rule_after({0x86, 2}), with_rbp(RbpKind::kAtCfa, -16));      // offset
    EXPECT_EQ(rule_after({0x05, 6, 3}), with_rbp(RbpKind::kAtCfa, -24));   // offset_extended
    EXPECT_EQ(rule_after({0x11, 6, 0x7f}), with_rbp(RbpKind::kAtCfa, 8));  // ..._sf -1
    EXPECT_EQ(rule_after({0x2f, 6, 2}), with_rbp(RbpKind::kAtCfa, 16));    // GNU_negative_...
    EXPECT_EQ(rule_after({0x90, 2}), with_return_address(ReturnAddressKind::kAtCfa, -16));
}

TEST(CfaProgram, KnowsTheOtherPlacesOfRbp) {
    EXPECT_EQ(rule_after({0x07, 6}), with_rbp(RbpKind::kUndefined, 0));
    EXPECT_EQ(rule_after({0x09, 6, 12}), with_rbp(RbpKind::kInRegister, 12));
    EXPECT_EQ(rule_after({0x14, 6, 2}), with_rbp(RbpKind::kExpression, 0));     // val_offset
    EXPECT_EQ(rule_after({0x15, 6, 0x7e}), with_rbp(RbpKind::kExpression, 0));  // val_offset_sf
    EXPECT_EQ(rule_after(Bytes{0x10, 6}.block({0x76, 0x00})), with_rbp(RbpKind::kAtRbp, 0));
    EXPECT_EQ(rule_after(Bytes{0x10, 6}.block({0x30})), with_rbp(RbpKind::kExpression, 0));
    EXPECT_EQ(rule_after(Bytes{0x16, 6}.block({0x76, 0x00})), with_rbp(RbpKind::kExpression, 0));
    EXPECT_EQ(rule_after({0x86, 2, 0x08, 6}), rule_at_entry());  // same_value
}

TEST(CfaProgram, KnowsTheOtherPlacesOfTheReturnAddress) {
    using enum ReturnAddressKind;
    EXPECT_EQ(rule_after({0x07, 16}), with_return_address(kUndefined, 0));      // _start
    EXPECT_EQ(rule_after({0x09, 16, 5}), with_return_address(kInRegister, 5));  // vfork: rdi
    EXPECT_EQ(rule_after({0x08, 16}), with_return_address(kExpression, 0));
    EXPECT_EQ(rule_after({0x14, 16, 1}), with_return_address(kExpression, 0));
    EXPECT_EQ(rule_after(Bytes{0x10, 16}.block({0x76, 0x00})), with_return_address(kExpression, 0));
    EXPECT_EQ(rule_after({0x07, 16}, {.instructions = {0x0c, 7, 8}}),
              with_return_address(kUndefined, 0));
    EXPECT_EQ(rule_after({}, {.instructions = {0x0c, 7, 8}}), with_return_address(kExpression, 0));
}

TEST(CfaProgram, IgnoresOtherRegistersWhateverTheirNumber) {
    const Bytes register_900 = Bytes().uleb128(900);
    const Bytes programs[] = {
        Bytes{0x83, 2},                                        // offset rbx
        Bytes{0xc3},                                           // restore rbx
        Bytes{0x05}.append(register_900).uleb128(1ULL << 40),  // offset_extended
        Bytes{0x06}.append(register_900),                      // restore_extended
        Bytes{0x07}.append(register_900),                      // undefined
        Bytes{0x08}.append(register_900),                      // same_value
        Bytes{0x09}.append(register_900).u8(6),                // register
        Bytes{0x10}.append(register_900).block({0x76, 0x00}),  // expression
        Bytes{0x14}.append(register_900).u8(1),                // val_offset
        Bytes{0x2e, 0x80, 0x01},                               // GNU_args_size 128
    };
    for (const Bytes& program : programs) EXPECT_EQ(rule_after(program), rule_at_entry());
}

TEST(CfaProgram, RestoresWhatTheCieSays) {
    const test::CieFields cie = {.instructions = Bytes(kAtEntry).append({0x86, 3})};
    const UnwindRule initial = with_rbp(RbpKind::kAtCfa, -24);
    EXPECT_EQ(rule_after({0x86, 2, 0xc6}, cie), initial);
    EXPECT_EQ(rule_after({0x86, 2, 0x06, 6}, cie), initial);
    EXPECT_EQ(rule_after({0x07, 16, 0xd0}, cie), initial);
    EXPECT_EQ(rule_after({0x86, 2, 0xc6}), rule_at_entry());
}

TEST(CfaProgram, RemembersStatesInAStack) {
    // push rbp (cfa 16); remember; cfa 24; remember; cfa 32, rbp restored; back; back
    const test::Rows rows = run({0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0e, 24, 0x0a, 0x41, 0x0e,
                                 32, 0xc6, 0x41, 0x0b, 0x41, 0x0b});
    ASSERT_EQ(rows.size(), 6U);
    UnwindRule pushed = with_rbp(RbpKind::kAtCfa, -16);
    pushed.cfa_offset = 16;
    EXPECT_EQ(rows[1].second, pushed);
    EXPECT_EQ(rows[3].second, with_cfa(kRsp, 32));
    EXPECT_EQ(rows[4].second, rows[2].second);
    EXPECT_EQ(rows[5].second, pushed);
}

TEST(CfaProgram, RemembersToAnyDepthThatAFileMayHave) {
    constexpr int kDepth = 100000;
    Bytes program;
    for (int i = 0; i < kDepth; ++i) program.u8(0x0a);
    program.append({0x0e, 64});
    for (int i = 0; i < kDepth; ++i) program.u8(0x0b);
    EXPECT_EQ(rule_after(program), rule_at_entry());
    EXPECT_TRUE(is_refused(Bytes(program).u8(0x0b)));
}

TEST(CfaProgram, MarksSignalFrames) {
    UnwindRule rule = rule_at_entry();
    rule.signal_frame = true;
    EXPECT_EQ(rule_after({}, {.augmentation = "zRS"}), rule);
}

TEST(CfaProgram, HasNoCfiWhereNothingDefinesTheCfa) {
    const test::Rows rows = run({0x86, 2, 0x41, 0x0c, 7, 8}, {.instructions = {0x90, 1}});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0], std::pair(kStart, UnwindRule{}));
    UnwindRule defined = with_rbp(RbpKind::kAtCfa, -16);
    EXPECT_EQ(rows[1], std::pair(kStart + 1, defined));
}

TEST(CfaProgram, RefusesInstructionsThatNobodyDefined) {
    for (int opcode = 0x17; opcode <= 0x3f; ++opcode) {
        if (opcode == 0x2e || opcode == 0x2f) continue;
        EXPECT_TRUE(is_refused({opcode, 1, 1, 0, 0, 0, 0, 0, 0, 0})) << opcode;
    }
}

TEST(CfaProgram, RefusesEveryTruncatedInstruction) {
    const Bytes programs[] = {
        {0x86},       {0x02},       {0x03, 1}, {0x04, 1, 0, 0}, {0x05, 6},    {0x06},
        {0x07},       {0x08},       {0x09, 6}, {0x0c, 7},       {0x0d},       {0x0e},
        {0x0f, 2, 0}, {0x10, 6, 1}, {0x11, 6}, {0x12, 7},       {0x13, 0x80}, {0x14, 6},
        {0x15, 6},    {0x16, 6, 1}, {0x2e},    {0x2f, 6},       {0x0e, 0x80}, {0x01, 0, 0, 0, 0}};
    for (const Bytes& program : programs) {
        EXPECT_TRUE(is_refused(program)) << std::to_integer<int>(program.view()[0]);
    }
}

TEST(CfaProgram, RefusesNumbersThatNoRuleCanHold) {
    constexpr std::int64_t kTooLarge = std::int64_t{1} << 31;
    EXPECT_TRUE(is_refused(Bytes{0x0e}.uleb128(kTooLarge)));
    EXPECT_FALSE(is_refused(Bytes{0x0e}.uleb128(kTooLarge - 1)));
    EXPECT_TRUE(is_refused(Bytes{0x0e}.uleb128(~std::uint64_t{0})));
    EXPECT_TRUE(is_refused(Bytes{0x0c}.uleb128(256).u8(8)));
    EXPECT_TRUE(is_refused(Bytes{0x0d}.uleb128(256)));
    EXPECT_TRUE(is_refused(Bytes{0x13}.sleb128(kTooLarge / 8)));
    EXPECT_TRUE(is_refused(Bytes{0x13}.sleb128(std::numeric_limits<std::int64_t>::min())));
    EXPECT_TRUE(is_refused(Bytes{0x86}.uleb128(kTooLarge / 8)));
    EXPECT_TRUE(is_refused(Bytes{0x2f, 6}.uleb128(kTooLarge / 8)));
    EXPECT_TRUE(is_refused(Bytes{0x09, 6}.uleb128(kTooLarge)));
    EXPECT_TRUE(is_refused(Bytes{0x04}.u32(0xffffffff),
                           {.code_alignment = std::numeric_limits<std::uint64_t>::max()}));
}

TEST(CfaProgram, RefusesHalfACfa) {
    EXPECT_TRUE(is_refused({0x0e, 16}, {.instructions = {0x90, 1}}));
    EXPECT_TRUE(is_refused({0x0d, 6}, {.instructions = {0x90, 1}}));
}

TEST(CfaProgram, RefusesACieThatMovesOrRestoresWhatIsNotThere) {
    EXPECT_TRUE(is_refused({}, {.instructions = Bytes(kAtEntry).u8(0x41)}));
    EXPECT_TRUE(is_refused({}, {.instructions = Bytes(kAtEntry).append({0x01}).u64(0)}));
    EXPECT_TRUE(is_refused({}, {.instructions = Bytes(kAtEntry).u8(0x0b)}));
    EXPECT_TRUE(is_refused({}, {.instructions = {0x0c}}));
}

}  // namespace
}  // namespace bobbin::cfi
