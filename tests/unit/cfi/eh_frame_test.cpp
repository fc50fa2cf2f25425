// SPDX-License-Identifier: Apache-2.0
#include "cfi/eh_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "unit/cfi/one_function.h"
#include "unit/cfi/section_builder.h"

namespace bobbin::cfi {
namespace {

using test::Bytes;
using test::Rows;
using test::rows_of;
using test::rule_at_entry;
using test::SectionBuilder;
using test::with_cfa;

const UnwindRule kNoCfi;

// def_cfa_offset n: tells functions apart.
Bytes offset(int n) { return {0x0e, n}; }

EhFrame read(const SectionBuilder& section, std::uint64_t section_file_vaddr = 0) {
    Result<EhFrame> frame = read_eh_frame(section.view(), section_file_vaddr);
    EXPECT_TRUE(frame.has_value()) << frame.error().message();
    return frame ? std::move(*frame) : EhFrame{};
}

std::string error_of(const SectionBuilder& section) {
    const Result<EhFrame> frame = read_eh_frame(section.view(), 0);
    return frame ? "" : frame.error().message();
}

TEST(ReadEhFrame, SortsFunctionsAndFillsTheGapsBetweenThem) {
    SectionBuilder section;
    const std::uint32_t cie = section.add_cie();
    section.add_fde(cie, 0x3000, 0x10, offset(24));
    section.add_fde(cie, 0x1000, 0x10, offset(32));
    section.add_fde(cie, 0x1010, 0x10, offset(40));
    const EhFrame frame = read(section);
    EXPECT_EQ(frame.fde_count, 3U);
    EXPECT_EQ(frame.unwind.base_file_vaddr, 0x1000U);
    EXPECT_EQ(rows_of(frame), (Rows{{0x1000, with_cfa(kRsp, 32)},
                                    {0x1010, with_cfa(kRsp, 40)},
                                    {0x1020, kNoCfi},
                                    {0x3000, with_cfa(kRsp, 24)},
                                    {0x3010, kNoCfi}}));
}

TEST(ReadEhFrame, JoinsFunctionsThatAgreeAndTouch) {
    SectionBuilder section;
    const std::uint32_t cie = section.add_cie();
    section.add_fde(cie, 0x1000, 0x10);
    section.add_fde(cie, 0x1010, 0x10);
    EXPECT_EQ(rows_of(read(section)), (Rows{{0x1000, rule_at_entry()}, {0x1020, kNoCfi}}));
}

TEST(ReadEhFrame, LeavesBytesThatTwoClaimToTheOneThatStartsFirst) {
    SectionBuilder section;
    const std::uint32_t cie = section.add_cie();
    // In the overlap, [0x1010, 0x1020), the second has two rows; the third lies wholly within.
    section.add_fde(cie, 0x1010, 0x20, {0x44, 0x0e, 48, 0x5c, 0x0e, 56});
    section.add_fde(cie, 0x1000, 0x20, offset(24));
    section.add_fde(cie, 0x1004, 0x04, offset(32));
    const EhFrame frame = read(section);
    EXPECT_EQ(rows_of(frame),
              (Rows{{0x1000, with_cfa(kRsp, 24)}, {0x1020, with_cfa(kRsp, 48)}, {0x1030, kNoCfi}}));
    EXPECT_EQ(frame.fde_count, 2U);
    EXPECT_EQ(frame.fde_refused_count, 0U);
}

TEST(ReadEhFrame, KeepsTheFirstInTheSectionOfTwoWithOneStart) {
    SectionBuilder section;
    const std::uint32_t cie = section.add_cie();
    section.add_fde(cie, 0x1000, 0x10, offset(24));
    section.add_fde(cie, 0x1000, 0x20, offset(32));
    EXPECT_EQ(rows_of(read(section)),
              (Rows{{0x1000, with_cfa(kRsp, 24)}, {0x1010, with_cfa(kRsp, 32)}, {0x1020, kNoCfi}}));
}

TEST(ReadEhFrame, CostsAMalformedFunctionOnlyItself) {
    SectionBuilder section;
    const std::uint32_t cie = section.add_cie();
    section.add_fde(cie, 0x1000, 0x10, offset(24));
    section.add_fde(cie, 0x1010, 0x10, {0x44, 0x0e, 32, 0x44, 0x3f});
    section.add_fde(cie, 0x1020, 0x10, offset(40));
    section.add_fde(cie + 1, 0x1030, 0x10, offset(48));  // names no CIE
    const EhFrame frame = read(section);
    EXPECT_EQ(rows_of(frame), (Rows{{0x1000, with_cfa(kRsp, 24)},
                                    {0x1010, kNoCfi},
                                    {0x1020, with_cfa(kRsp, 40)},
                                    {0x1030, kNoCfi}}));
    EXPECT_EQ(frame.fde_count, 2U);
    EXPECT_EQ(frame.fde_refused_count, 2U);
}

TEST(ReadEhFrame, RefusesTheFunctionsOfACieItCannotRead) {
    SectionBuilder section;
    const std::uint32_t good = section.add_cie();
    const std::uint32_t bad = section.add_cie({.version = 9});
    section.add_fde(good, 0x1000, 0x10);
    section.add_fde(bad, 0x2000, 0x10);
    section.add_fde(bad, 0x3000, 0x10);
    const EhFrame frame = read(section);
    EXPECT_EQ(frame.fde_count, 1U);
    EXPECT_EQ(frame.fde_refused_count, 2U);
}

TEST(ReadEhFrame, IgnoresRemovedAndEmptyFunctions) {
    SectionBuilder section;
    const std::uint32_t cie = section.add_cie();
    section.add_fde(cie, 0, 0x10);
    section.add_fde(cie, 0x1000, 0);
    section.add_fde(cie, 0x2000, 0x10);
    const EhFrame frame = read(section);
    EXPECT_EQ(frame.unwind.base_file_vaddr, 0x2000U);
    EXPECT_EQ(frame.fde_count, 1U);
    EXPECT_EQ(frame.fde_refused_count, 0U);
}

TEST(ReadEhFrame, KeepsWhatStandsBeforeALengthThatLeavesTheSection) {
    SectionBuilder section;
    section.add_fde(section.add_cie(), 0x1000, 0x10);
    section.append(Bytes().u32(0x7fffffff));
    const EhFrame frame = read(section);
    EXPECT_EQ(frame.fde_count, 1U);
    EXPECT_NE(frame.stopped.find("leaves the section"), std::string::npos);
}

TEST(ReadEhFrame, RefusesWhatEndsMoreThanFourGigabytesAfterTheFirst) {
    constexpr std::uint64_t kBase = 0x1000;
    SectionBuilder section;
    const std::uint32_t cie = section.add_cie();
    section.add_fde(cie, kBase, 0x10);
    section.add_fde(cie, kBase + 0xfffffff0, 0xf);   // ends at + 2^32 - 1
    section.add_fde(cie, kBase + 0xfffffff0, 0x10);  // ends at + 2^32
    section.add_fde(cie, kBase + (std::uint64_t{1} << 40), 0x10);
    const EhFrame frame = read(section);
    EXPECT_EQ(frame.fde_count, 2U);
    EXPECT_EQ(frame.fde_refused_count, 2U);
    EXPECT_EQ(rows_of(frame).back(), std::pair(kBase + 0xffffffff, kNoCfi));
}

TEST(ReadEhFrame, GivesNoRowsOfASectionWithoutFunctions) {
    SectionBuilder empty;
    EXPECT_TRUE(read(empty).unwind.rows.empty());
    SectionBuilder without_functions;
    without_functions.add_cie();
    EXPECT_TRUE(read(without_functions).unwind.rows.empty());
}

TEST(ReadEhFrame, GivesNoRowsWhereThereAreNoFunctions) {
    SectionBuilder with_cie;
    with_cie.add_cie();
    SectionBuilder with_end;
    with_end.append(Bytes().u32(0));
    for (const SectionBuilder& section : {SectionBuilder(), with_cie, with_end}) {
        const EhFrame frame = read(section);
        EXPECT_TRUE(frame.unwind.rows.empty());
        EXPECT_EQ(frame.fde_count, 0U);
    }
}

TEST(ReadEhFrame, SaysWhyItHasNoRowsWhereItShouldHave) {
    SectionBuilder malformed;
    malformed.add_fde(malformed.add_cie(), 0x1000, 0x10, {0x3f});
    EXPECT_EQ(error_of(malformed), "all 1 FDEs are malformed");
    SectionBuilder cut;
    cut.append(Bytes().u32(8));
    EXPECT_NE(error_of(cut).find("leaves the section"), std::string::npos);
}

// An id of 4 makes an entry its own CIE; one of 0 in an FDE makes it a CIE.
TEST(ReadEhFrame, TakesNoEntryForItsOwnCie) {
    SectionBuilder section;
    section.add_entry(Bytes().u32(4).u64(0x1000).u64(0x10).u8(0));
    EXPECT_EQ(error_of(section), "all 1 FDEs are malformed");
}

TEST(ReadEhFrame, ReadsAHugeCieOnceHoweverManyFunctionsNameIt) {
    // 2^20 instructions times 2^15 functions would take minutes.
    Bytes instructions = test::kAtEntry;
    instructions.storage().resize(instructions.size() + (std::size_t{1} << 20));
    constexpr std::uint64_t kFunctions = std::uint64_t{1} << 15;
    SectionBuilder section;
    const std::uint32_t cie = section.add_cie({.instructions = instructions});
    for (std::uint64_t i = 0; i < kFunctions; ++i) section.add_fde(cie, 0x1000 + i * 16, 8);
    const EhFrame frame = read(section);
    EXPECT_EQ(frame.fde_count, kFunctions);
    EXPECT_EQ(frame.unwind.rows.size(), 2 * kFunctions);
}

TEST(ReadEhFrame, SurvivesEveryTruncationAndEveryChangedByte) {
    SectionBuilder whole;
    const std::uint32_t cie = whole.add_cie(
        {.augmentation = "zPLR", .augmentation_data = Bytes().u8(0x9b).u32(1).u8(0x1b).u8(0x04)});
    whole.add_fde(cie, 0x1000, 0x40, {0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x43, 0x0d, 6, 0x0b});
    whole.add_fde(cie, 0x1040, 0x40, Bytes{0x0f}.block({0x76, 0x78, 0x06}));
    const std::size_t size = whole.size();
    for (std::size_t cut = 0; cut < size; ++cut) {
        SectionBuilder section = whole;
        section.storage().resize(cut);
        if (const auto frame = read_eh_frame(section.view(), 0)) (void)rows_of(*frame);
    }
    for (std::size_t at = 0; at < size; ++at) {
        for (int value = 0; value < 256; ++value) {
            SectionBuilder section = whole;
            section.storage()[at] = static_cast<std::byte>(value);
            if (const auto frame = read_eh_frame(section.view(), 0)) (void)rows_of(*frame);
        }
    }
}

// ld.so's _dl_runtime_resolve: its CFA is by rbx, so all rules of the file say where rbx is.
TEST(ReadEhFrame, SaysWhereRbxIsInAFileWithACfaByIt) {
    const test::Bytes saves = {0x0e, 24, 0x83, 3};  // def_cfa_offset 24; offset rbx at cfa - 24
    const test::Bytes by_rbx = {0x0c, 3, 16};       // def_cfa rbx + 16
    test::SectionBuilder section;
    const std::uint32_t cie = section.add_cie({});
    section.add_fde(cie, 0x1000, 0x10, saves);
    section.add_fde(cie, 0x1010, 0x10, {});
    const Result<EhFrame> without = read_eh_frame(section.view(), 0);
    ASSERT_TRUE(without);
    for (const UnwindRule& rule : without->unwind.rules) EXPECT_EQ(rule.rbx_words, 0);

    section.add_fde(cie, 0x1020, 0x10, by_rbx);
    const Result<EhFrame> with = read_eh_frame(section.view(), 0);
    ASSERT_TRUE(with);
    const UnwindRows& unwind = with->unwind;
    ASSERT_EQ(unwind.rows.size(), 4U);
    EXPECT_EQ(unwind.rule_of(unwind.rows[0]).rbx_words, 3);
    EXPECT_EQ(unwind.rule_of(unwind.rows[1]).rbx_words, 1);
    EXPECT_EQ(unwind.rule_of(unwind.rows[2]).cfa_register, kRbx);
    EXPECT_EQ(unwind.rule_of(unwind.rows[2]).rbx_words, 1);
}

}  // namespace
}  // namespace bobbin::cfi
