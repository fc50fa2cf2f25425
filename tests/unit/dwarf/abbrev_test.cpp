// SPDX-License-Identifier: Apache-2.0
#include "dwarf/abbrev.h"

#include <gtest/gtest.h>

#include <limits>

#include "dwarf/constants.h"
#include "dwarf/form.h"
#include "unit/dwarf/byte_writer.h"

namespace bobbin::dwarf {
namespace {

constexpr Encoding kDwarf5{5, 4, 8};

AbbrevTable table_of(const test::ByteWriter& bytes) {
    return AbbrevTable::read(bytes.bytes(), kDwarf5);
}

// Code 1, subprogram with children: sibling ref4, low_pc addr. Code 2, base type without: name
// string, size udata.
TEST(AbbrevTable, PassesOverADieByItsForms) {
    test::ByteWriter bytes;
    bytes.u8s({1, kTagSubprogram, 1, kAtSibling, kFormRef4, kAtLowPc, kFormAddr, 0, 0});
    bytes.u8s({2, 0x24, 0, kAtName, kFormString, 0x0b, kFormUdata, 0, 0, 0});
    const AbbrevTable table = table_of(bytes);
    EXPECT_TRUE(table.is_whole());

    const Abbrev* function = table.find(1);
    ASSERT_NE(function, nullptr);
    EXPECT_TRUE(function->has_children && function->has_sibling && function->has_code);
    EXPECT_EQ(function->fixed_bytes, 4 + 8);

    const Abbrev* type = table.find(2);
    ASSERT_NE(type, nullptr);
    EXPECT_FALSE(type->has_children || type->has_sibling || type->has_code);
    test::ByteWriter die;
    die.text("long").u8s({0x80, 0x01}).u8(0x55);
    ByteReader reader(die.bytes());
    table.skip(reader, *type);
    EXPECT_EQ(reader.u8(), 0x55);
    EXPECT_EQ(table.find(3), nullptr);
    EXPECT_EQ(table.find(0), nullptr);
}

// 200 fixed bytes do not fit one step of a skip program, and the block stands in between.
TEST(AbbrevTable, GoesToTheSiblingBehindAttributesOfAnySize) {
    test::ByteWriter bytes;
    bytes.u8s({1, kTagStructure, 1});
    for (int i = 0; i < 25; ++i) bytes.u8s({0x3a, kFormData8});
    bytes.u8s({0x02, kFormExprloc, kAtSibling, kFormRefUdata, kAtName, kFormStrp, 0, 0, 0});
    const AbbrevTable table = table_of(bytes);
    const Abbrev* abbrev = table.find(1);
    ASSERT_NE(abbrev, nullptr);
    EXPECT_EQ(abbrev->fixed_bytes, -1);

    test::ByteWriter die;
    for (int i = 0; i < 25; ++i) die.u64(0);
    die.u8s({3, 9, 9, 9}).u8(0x2a).u32(0).u8(0x55);
    ByteReader to_sibling(die.bytes());
    table.skip_to_sibling(to_sibling, *abbrev);
    EXPECT_EQ(to_sibling.uleb128(), 0x2aU);
    ByteReader whole(die.bytes());
    table.skip(whole, *abbrev);
    EXPECT_EQ(whole.u8(), 0x55);
}

TEST(AbbrevTable, FindsCodesThatHaveGaps) {
    test::ByteWriter bytes;
    bytes.u8s({9, kTagNamespace, 1, 0, 0, 4, kTagClass, 0, 0, 0, 0});
    const AbbrevTable table = table_of(bytes);
    ASSERT_NE(table.find(9), nullptr);
    EXPECT_EQ(table.find(9)->tag, kTagNamespace);
    ASSERT_NE(table.find(4), nullptr);
    EXPECT_EQ(table.find(4)->tag, kTagClass);
    EXPECT_EQ(table.find(1), nullptr);
}

// DWARF 5 section 7.5.6: the value stands in the declaration and takes no bytes of the DIE.
TEST(AbbrevTable, KeepsImplicitConstants) {
    test::ByteWriter bytes;
    bytes.u8s({1, kTagSubprogram, 0, kAtCallLine, kFormImplicitConst, 0x7f, 0, 0, 0});
    const AbbrevTable table = table_of(bytes);
    const Attribute attribute = table.attributes_of(*table.find(1))[0];
    ByteReader nothing;
    EXPECT_EQ(read_raw(nothing, attribute, kDwarf5), std::numeric_limits<std::uint64_t>::max());
    EXPECT_TRUE(nothing.ok());
}

TEST(AbbrevTable, KeepsWhatCameBeforeACut) {
    test::ByteWriter bytes;
    bytes.u8s({1, kTagClass, 0, 0, 0, 2, kTagUnion, 0, kAtName});
    const AbbrevTable table = table_of(bytes);
    EXPECT_FALSE(table.is_whole());
    EXPECT_NE(table.find(1), nullptr);
    EXPECT_EQ(table.find(2), nullptr);
}

// A form nobody defined has no size: nothing behind it can be read.
TEST(SkipForm, EndsAtAFormThatIsNotKnown) {
    const test::ByteWriter bytes = test::ByteWriter().u64(0);
    ByteReader reader(bytes.bytes());
    skip_form(reader, 0x7e, kDwarf5);
    EXPECT_FALSE(reader.ok());
}

// DWARF 2 section 7.5.4: as wide as an address; since DWARF 3 as wide as an offset.
TEST(FixedSizeOf, MakesRefAddrAsWideAsItsVersionHasIt) {
    EXPECT_EQ(fixed_size_of(kFormRefAddr, {2, 4, 8}), 8);
    EXPECT_EQ(fixed_size_of(kFormRefAddr, {3, 4, 8}), 4);
    EXPECT_EQ(fixed_size_of(kFormRefAddr, {5, 8, 8}), 8);
}

}  // namespace
}  // namespace bobbin::dwarf
