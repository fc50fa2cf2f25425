// SPDX-License-Identifier: Apache-2.0
#include "pclntab/unwind_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "unit/pclntab/table_builder.h"

namespace bobbin::pclntab {
namespace {

using cfi::RbpKind;
using cfi::ReturnAddressKind;
using test::TableBuilder;

constexpr std::uint64_t kText = TableBuilder::kTextStart;

// Deltas of the value in zigzag (depth begins at -1, so the first is +1: 2), then of the pc.
// push rbp at 0; mov rbp, rsp at 1; sub rsp, 24 at 4; add at 20; pop at 24; ret at 25; end 26:
//   0 for 1 byte, 8 for 7, 32 for 16, 8 for 1, 0 for 1
const std::vector<std::uint8_t> kFrame = {2, 1, 16, 7, 48, 16, 47, 1, 15, 1, 0};
// 0 for 16 bytes
const std::vector<std::uint8_t> kFlat = {2, 16, 0};

GoRows rows_of(const std::vector<std::byte>& section) {
    const auto table = FunctionTable::open(section);
    EXPECT_TRUE(table.has_value());
    if (!table) return {};
    auto rows = read_unwind_rows(*table);
    EXPECT_TRUE(rows.has_value());
    return rows ? std::move(*rows) : GoRows{};
}

cfi::UnwindRule rule_at(const GoRows& rows, std::uint64_t from_text) {
    cfi::UnwindRule rule;
    for (const cfi::UnwindRow& row : rows.unwind.rows) {
        if (rows.unwind.file_vaddr(row) > kText + from_text) break;
        rule = rows.unwind.rule_of(row);
    }
    return rule;
}

TEST(ReadGoRows, AddsTheReturnAddressToTheDepth) {
    const GoRows rows = rows_of(TableBuilder().add({"main.f", 0, kFrame}).build(64));
    const std::vector<std::int32_t> cfa_offsets = {8, 16, 16, 40, 40, 16, 8};
    const std::vector<std::uint64_t> at = {0, 1, 7, 8, 23, 24, 25};
    for (std::size_t i = 0; i < at.size(); ++i) {
        const cfi::UnwindRule rule = rule_at(rows, at[i]);
        EXPECT_EQ(rule.cfa, cfi::CfaKind::kRegisterOffset) << at[i];
        EXPECT_EQ(rule.cfa_register, cfi::kRsp);
        EXPECT_EQ(rule.cfa_offset, cfa_offsets[i]) << at[i];
        EXPECT_EQ(rule.ra_offset, -8);
    }
    EXPECT_EQ(rule_at(rows, 26).cfa, cfi::CfaKind::kNoCfi) << "the depths end before the function";
}

TEST(ReadGoRows, FindsRbpRightBelowTheReturnAddressOnceItWasPushed) {
    const GoRows rows = rows_of(TableBuilder().add({"main.f", 0, kFrame}).build(64));
    EXPECT_EQ(rule_at(rows, 0).rbp, RbpKind::kSame);
    EXPECT_EQ(rule_at(rows, 1).rbp, RbpKind::kAtCfa);
    EXPECT_EQ(rule_at(rows, 1).rbp_offset, -16);
    EXPECT_EQ(rule_at(rows, 25).rbp, RbpKind::kSame);
}

// sub rsp, 32 (ends at 4); mov [rsp + 24], rbp, five bytes; lea; add at 26; ret at 30.
TEST(ReadGoRows, WaitsForTheMoveThatSavesRbpInProgramsBeforeGo121) {
    const GoRows rows =
        rows_of(TableBuilder().add({"main.f", 0, {2, 4, 64, 26, 63, 1, 0}}).build(64));
    EXPECT_EQ(rule_at(rows, 4).cfa_offset, 40);
    EXPECT_EQ(rule_at(rows, 4).rbp, RbpKind::kSame);
    EXPECT_EQ(rule_at(rows, 8).rbp, RbpKind::kSame);
    EXPECT_EQ(rule_at(rows, 9).rbp, RbpKind::kAtCfa);
}

TEST(ReadGoRows, EndAtTheFirstFunctionOfAGoroutine) {
    const GoRows rows =
        rows_of(TableBuilder().add({"runtime.goexit", 0, kFlat, kTopFrame | kAssembly}).build(16));
    EXPECT_EQ(rule_at(rows, 1).return_address, ReturnAddressKind::kUndefined);
}

TEST(ReadGoRows, CrossToTheStackThatSystemstackLeftByItsFramePointer) {
    const GoRows rows = rows_of(TableBuilder()
                                    .add({"main.f", 0, kFrame})
                                    .add({"runtime.systemstack", 64, kFrame, kWritesSp | kAssembly})
                                    .build(128));
    EXPECT_EQ(rule_at(rows, 64 + 1).cfa_register, cfi::kRsp) << "mov rbp, rsp has not run";
    const cfi::UnwindRule rule = rule_at(rows, 64 + 4);
    EXPECT_EQ(rule.cfa_register, cfi::kRbp);
    EXPECT_EQ(rule.cfa_offset, 16);
    EXPECT_EQ(rule.rbp_offset, -16);
    EXPECT_TRUE(rule.changes_stack);
    EXPECT_EQ(rule_at(rows, 64 + 25).cfa_register, cfi::kRsp) << "ret";
}

TEST(ReadGoRows, LoseTheStackThatAFramelessSystemstackLeft) {
    const GoRows rows = rows_of(
        TableBuilder().add({"runtime.systemstack", 0, kFlat, kWritesSp | kAssembly}).build(16));
    EXPECT_EQ(rule_at(rows, 8).return_address, ReturnAddressKind::kOtherStack);
}

TEST(ReadGoRows, LoseTheStackInAnyAssemblyThatWritesRspAndIsNotKnown) {
    const GoRows rows =
        rows_of(TableBuilder().add({"a/b.sum", 0, kFrame, kWritesSp | kAssembly}).build(64));
    EXPECT_EQ(rule_at(rows, 4).return_address, ReturnAddressKind::kOtherStack);
}

// The walk looks up the byte before a return address.
TEST(ReadGoRows, BeginASignalTrampolineOneByteEarly) {
    const GoRows rows = rows_of(TableBuilder()
                                    .add({"runtime.cgoSigtramp", 0, kFlat, kAssembly})
                                    .add({"runtime.sigreturn", 16, kFlat, kAssembly})
                                    .build(32));
    EXPECT_FALSE(rule_at(rows, 14).signal_frame);
    EXPECT_TRUE(rule_at(rows, 15).signal_frame);
    EXPECT_TRUE(rule_at(rows, 16).signal_frame);
}

TEST(ReadGoRows, TreatTheCompilersWrapperOfASpecialFunctionLikeAnyOther) {
    const GoRows rows = rows_of(TableBuilder().add({"runtime.clone", 0, kFrame}).build(64));
    EXPECT_EQ(rule_at(rows, 8).return_address, ReturnAddressKind::kAtCfa);
}

TEST(ReadGoRows, LeaveOutAndCountAFunctionWhoseDepthsAreDamaged) {
    const std::vector<std::vector<std::uint8_t>> damaged = {
        {2, 0},                                // a step that does not move on
        {2, 0x80, 0x80, 0x80, 0x80, 0x80, 1},  // a number of more than 32 bits
        {4, 4, 0},                             // a depth of 1
        {34, 4, 51, 4, 0},                     // below the return address: 16, then -10
    };
    for (const auto& depths : damaged) {
        const GoRows rows = rows_of(
            TableBuilder().add({"main.f", 0, depths}).add({"main.g", 64, kFrame}).build(128));
        EXPECT_EQ(rows.function_refused_count, 1U);
        EXPECT_EQ(rows.function_count, 1U);
        EXPECT_EQ(rule_at(rows, 2).cfa, cfi::CfaKind::kNoCfi);
        EXPECT_EQ(rule_at(rows, 64 + 8).cfa_offset, 40);
    }
}

TEST(ReadGoRows, LeaveOutAFunctionThatStartsInsideAnother) {
    const GoRows rows = rows_of(TableBuilder()
                                    .add({"main.f", 0, kFrame})
                                    .add({"main.g", 64, kFrame})
                                    .add({"main.h", 32, kFrame})
                                    .build(128));
    EXPECT_GE(rows.function_refused_count, 1U);
    EXPECT_TRUE(std::ranges::is_sorted(rows.unwind.rows, {}, &cfi::UnwindRow::vaddr_from_base));
}

TEST(ReadGoRows, GiveAFunctionWithoutDepthsNoRows) {
    const GoRows rows =
        rows_of(TableBuilder().add({"main.f", 0, kFrame}).add({"c_function", 64, {}}).build(128));
    EXPECT_EQ(rule_at(rows, 70).cfa, cfi::CfaKind::kNoCfi);
    EXPECT_EQ(rows.function_refused_count, 0U);
}

TEST(ReadGoRows, RefuseATableThatDoesNotSayWhereItsTextStarts) {
    const auto section = TableBuilder().add({"main.f", 0, kFrame}).build(64, 0);
    auto table = FunctionTable::open(section);
    ASSERT_TRUE(table.has_value());
    EXPECT_FALSE(table->knows_text_start());
    EXPECT_FALSE(read_unwind_rows(*table).has_value());
    table->set_text_start(kText);
    EXPECT_TRUE(read_unwind_rows(*table).has_value());
}

TEST(OpenFunctionTable, RefusesOneWhoseEntriesLeaveTheSection) {
    auto section = TableBuilder().add({"main.f", 0, kFrame}).build(64);
    section[8] = std::byte{200};  // nfunc
    EXPECT_FALSE(FunctionTable::open(section).has_value());
}

TEST(FindFunctionTable, FindsOneBehindOtherData) {
    auto section = TableBuilder().add({"main.f", 0, kFrame}).build(64);
    section.insert(section.begin(), 24, std::byte{0x5a});
    EXPECT_EQ(find_function_table(section), 24U);
    EXPECT_EQ(find_function_table(std::vector<std::byte>(100)), std::nullopt);
}

}  // namespace
}  // namespace bobbin::pclntab
