// SPDX-License-Identifier: Apache-2.0
#include "cfi/cie_fde.h"

#include <gtest/gtest.h>

#include "unit/cfi/section_builder.h"

namespace bobbin::cfi {
namespace {

using test::Bytes;
using test::CieFields;
using test::kAtEntry;
using test::kUdata8;
using test::SectionBuilder;

std::optional<Cie> cie_of(const CieFields& fields) {
    SectionBuilder section;
    section.add_cie(fields);
    EntryReader reader(section.view());
    const std::optional<Entry> entry = reader.next();
    EXPECT_TRUE(entry && entry->kind == EntryKind::kCie);
    std::optional<Cie> cie = parse_cie(*entry);
    if (cie) cie->initial_instructions = {};  // lies in `section`
    return cie;
}

TEST(EntryReader, WalksEntriesAndNamesTheirCie) {
    SectionBuilder section;
    const std::uint32_t first = section.add_cie();
    const std::uint32_t second = section.add_cie();
    const std::uint32_t fde = section.add_fde(first, 0x1000, 0x10);
    EntryReader reader(section.view());
    EXPECT_EQ(reader.next()->section_offset, first);
    EXPECT_EQ(reader.next()->section_offset, second);
    const std::optional<Entry> entry = reader.next();
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->kind, EntryKind::kFde);
    EXPECT_EQ(entry->section_offset, fde);
    EXPECT_EQ(entry->cie_section_offset, first);
    EXPECT_EQ(entry->body_section_offset, fde + 8);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.stopped(), "");
}

TEST(EntryReader, ReadsLengthsOfEightBytesWithIdsOfFour) {
    const Bytes section = Bytes().u32(0xffffffff).u64(6).u32(0).u8(1).u8(2);
    EntryReader reader(section.view());
    const std::optional<Entry> entry = reader.next();
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->kind, EntryKind::kCie);
    EXPECT_EQ(entry->body_section_offset, 16U);
    EXPECT_EQ(entry->body.size(), 2U);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.stopped(), "");
}

TEST(EntryReader, EndsAtALengthOfZeroWithoutComplaint) {
    SectionBuilder section;
    section.append(Bytes().u32(0));
    section.add_cie();
    EntryReader reader(section.view());
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.stopped(), "");
}

TEST(EntryReader, SaysWhichLengthLeavesTheSection) {
    for (const Bytes& bad : {Bytes().u32(0x100), Bytes().u32(0xffffffff).u64(1),
                             Bytes().u32(0xffffffff).u64(~std::uint64_t{0}),
                             Bytes().u32(0xffffffff).u32(0), Bytes().u16(1)}) {
        SectionBuilder section;
        const std::uint32_t cie = section.add_cie();
        section.append(bad);
        EntryReader reader(section.view());
        EXPECT_EQ(reader.next()->section_offset, cie);
        EXPECT_FALSE(reader.next());
        EXPECT_NE(reader.stopped().find("leaves the section"), std::string::npos);
    }
}

TEST(EntryReader, CallsAnEntryWithoutAnIdOrWithOneBeforeTheSectionMalformed) {
    SectionBuilder section;
    section.add_entry({1, 2, 3});
    section.add_entry(Bytes().u32(0x1000));
    const std::uint32_t cie = section.add_cie();
    EntryReader reader(section.view());
    EXPECT_EQ(reader.next()->kind, EntryKind::kMalformed);
    EXPECT_EQ(reader.next()->kind, EntryKind::kMalformed);
    EXPECT_EQ(reader.next()->section_offset, cie);
}

TEST(ParseCie, ReadsVersionsOneThreeAndFour) {
    for (const int version : {1, 3, 4}) {
        const std::optional<Cie> cie =
            cie_of({.version = version, .code_alignment = 4, .data_alignment = -200});
        ASSERT_TRUE(cie) << version;
        EXPECT_EQ(cie->code_alignment, 4U);
        EXPECT_EQ(cie->data_alignment, -200);
        EXPECT_EQ(cie->pointer_encoding, kUdata8);
        EXPECT_TRUE(cie->sized_augmentation);
        EXPECT_FALSE(cie->signal_frame);
    }
    for (const int version : {0, 2, 5, 255}) EXPECT_FALSE(cie_of({.version = version})) << version;
}

TEST(ParseCie, TakesAbsolutePointersForGrantedWithoutAugmentation) {
    const std::optional<Cie> cie = cie_of({.augmentation = ""});
    ASSERT_TRUE(cie);
    EXPECT_EQ(cie->pointer_encoding, 0);
    EXPECT_FALSE(cie->sized_augmentation);
}

// g++ writes "zPLR": personality (pcrel indirect sdata4), LSDA encoding, pointer encoding.
TEST(ParseCie, PassesOverPersonalityAndLsda) {
    const std::optional<Cie> cie =
        cie_of({.augmentation = "zPLR",
                .augmentation_data = Bytes().u8(0x9b).u32(0x1234).u8(0x1b).u8(0x1b)});
    ASSERT_TRUE(cie);
    EXPECT_EQ(cie->pointer_encoding, 0x1b);
    const std::optional<Cie> omitted =
        cie_of({.augmentation = "zPR", .augmentation_data = {0xff, 0x1b}});
    ASSERT_TRUE(omitted);
    EXPECT_EQ(omitted->pointer_encoding, 0x1b);
}

TEST(ParseCie, KnowsSignalFrames) {
    const std::optional<Cie> cie = cie_of({.augmentation = "zRSB"});
    ASSERT_TRUE(cie);
    EXPECT_TRUE(cie->signal_frame);
}

TEST(ParseCie, RefusesWhatItCannotRead) {
    EXPECT_FALSE(cie_of({.augmentation = "eh"}));
    EXPECT_FALSE(cie_of({.augmentation = "R"}));
    EXPECT_FALSE(cie_of({.augmentation = "zRX"}));
    EXPECT_FALSE(cie_of({.augmentation_data = {0x2b}}));  // textrel
    EXPECT_FALSE(cie_of({.augmentation_data = {0x9b}}));  // indirect
    EXPECT_FALSE(cie_of({.augmentation_data = {0xff}}));  // omitted
    EXPECT_FALSE(cie_of({.augmentation_data = {}}));
    EXPECT_FALSE(cie_of({.augmentation = "zPR", .augmentation_data = {0x50, 0, 0x1b}}));
    EXPECT_FALSE(cie_of({.augmentation = "zPR", .augmentation_data = {0x0f, 0, 0x1b}}));
    EXPECT_FALSE(cie_of({.return_address = 15}));
}

TEST(ParseCie, RefusesAddressesOfOtherThanEightBytesInVersionFour) {
    for (const Bytes& sizes : {Bytes{4, 0}, Bytes{8, 1}}) {
        SectionBuilder section;
        section.add_entry(
            Bytes().u32(0).u8(4).text("").append(sizes).append({1, 0x78, 16}).append(kAtEntry));
        EntryReader reader(section.view());
        EXPECT_FALSE(parse_cie(*reader.next()));
    }
}

TEST(ParseCie, RefusesEveryTruncation) {
    SectionBuilder whole;
    whole.add_cie({.instructions = {}});
    for (std::size_t size = 8; size < whole.size(); ++size) {
        SectionBuilder cut;
        Bytes body;
        for (const std::byte byte : whole.view().subspan(4, size - 4)) {
            body.u8(std::to_integer<int>(byte));
        }
        cut.add_entry(body);
        EntryReader reader(cut.view());
        EXPECT_FALSE(parse_cie(*reader.next())) << size << " bytes";
    }
}

struct ParsedFde {
    std::optional<Fde> fde;
    std::uint32_t offset = 0;
};

ParsedFde fde_of(const CieFields& fields, const Bytes& pointers, const Bytes& rest,
                 std::uint64_t section_file_vaddr = 0) {
    SectionBuilder section;
    const std::uint32_t offset =
        section.add_fde_with_pointers(section.add_cie(fields), pointers, rest);
    EntryReader reader(section.view());
    const std::optional<Cie> cie = parse_cie(*reader.next());
    EXPECT_TRUE(cie);
    return {parse_fde(*reader.next(), *cie, section_file_vaddr), offset};
}

TEST(ParseFde, FindsTheFunctionAndItsInstructions) {
    const auto [fde, offset] =
        fde_of({}, Bytes().u64(0x401000).u64(0x20), Bytes().block({1, 2, 3}).append({0, 0}));
    ASSERT_TRUE(fde);
    EXPECT_EQ(fde->start_file_vaddr, 0x401000U);
    EXPECT_EQ(fde->end_file_vaddr, 0x401020U);
    // length 4, id 4, two pointers of 8, augmentation of 1 + 3
    EXPECT_EQ(fde->instructions_section_offset, offset + 4 + 4 + 16 + 4);
    EXPECT_EQ(fde->instructions_size_bytes, 2U);
    EXPECT_FALSE(fde->is_empty());
}

TEST(ParseFde, CountsPcRelativePointersFromTheirOwnPlace) {
    const auto [fde, offset] = fde_of({.augmentation_data = {0x1b}},
                                      Bytes().u32(0xffffff00).u32(0x20), Bytes{0}, 0x500000);
    ASSERT_TRUE(fde);
    EXPECT_EQ(fde->start_file_vaddr, 0x500000 + offset + 8 - 0x100);
    EXPECT_EQ(fde->end_file_vaddr - fde->start_file_vaddr, 0x20U);
}

TEST(ParseFde, HasNoAugmentationDataWhereItsCieHasNone) {
    const auto [fde, offset] = fde_of({.augmentation = ""}, Bytes().u64(0x1000).u64(1), {0xff});
    ASSERT_TRUE(fde);
    EXPECT_EQ(fde->instructions_section_offset, offset + 24);
    EXPECT_EQ(fde->instructions_size_bytes, 1U);
}

TEST(ParseFde, CallsARemovedFunctionAndOneWithoutBytesEmpty) {
    EXPECT_TRUE(fde_of({}, Bytes().u64(0).u64(0x20), {0}).fde->is_empty());
    EXPECT_TRUE(fde_of({}, Bytes().u64(0x1000).u64(0), {0}).fde->is_empty());
}

TEST(ParseFde, RefusesTruncationAndAddressesThatWrap) {
    EXPECT_FALSE(fde_of({}, Bytes().u64(0x1000).u32(1), {}).fde);
    EXPECT_FALSE(fde_of({}, Bytes().u64(0x1000).u64(1), {}).fde);      // no augmentation length
    EXPECT_FALSE(fde_of({}, Bytes().u64(0x1000).u64(1), {5, 0}).fde);  // longer than the entry
    EXPECT_FALSE(fde_of({}, Bytes().u64(0x1000).u64(~std::uint64_t{0}), {0}).fde);
}

}  // namespace
}  // namespace bobbin::cfi
