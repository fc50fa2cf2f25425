// SPDX-License-Identifier: Apache-2.0
#include "dwarf/unit_header.h"

#include <gtest/gtest.h>

#include "dwarf/constants.h"
#include "unit/dwarf/byte_writer.h"

namespace bobbin::dwarf {
namespace {

// Version 4: length, version, abbreviations, address size; then a root of one byte.
test::ByteWriter version_4_unit() {
    return test::ByteWriter::with_length(test::ByteWriter().u16(4).u32(0x1234).u8(8).u8(0));
}

// Version 5: length, version, type, address size, abbreviations, id of the split unit; then a root.
test::ByteWriter skeleton_unit() {
    return test::ByteWriter::with_length(
        test::ByteWriter().u16(5).u8(kUnitSkeleton).u8(8).u32(0x20).u64(0xfeed).u8(0));
}

TEST(ReadUnitHeaders, HopsFromUnitToUnit) {
    test::ByteWriter bytes = version_4_unit().append(skeleton_unit()).append(version_4_unit());
    Section info(bytes.bytes());
    const std::vector<UnitHeader> headers = read_unit_headers(info);
    ASSERT_EQ(headers.size(), 3U);
    EXPECT_EQ(headers[0].offset, 0U);
    EXPECT_EQ(headers[0].header_bytes, 11);
    EXPECT_EQ(headers[0].abbrev_offset, 0x1234U);
    EXPECT_EQ(headers[0].end_offset, 12U);
    EXPECT_EQ(headers[1].offset, 12U);
    EXPECT_EQ(headers[1].header_bytes, 20);
    EXPECT_EQ(headers[1].dwo_id, 0xfeedU);
    EXPECT_EQ(headers[1].end_offset, 33U);
    EXPECT_EQ(headers[2].offset, 33U);
    EXPECT_EQ(find_unit(headers, 32), 1U);
    EXPECT_EQ(find_unit(headers, 33), 2U);
    EXPECT_EQ(find_unit(headers, 45), std::nullopt);
}

// DWARF 5 section 7.4: 0xffffffff, then lengths and offsets of 64 bits.
TEST(ReadUnitHeaders, Reads64BitDwarf) {
    test::ByteWriter content;
    content.u16(5).u8(kUnitCompile).u8(8).u64(0x1'0000'0000).u8(0);
    test::ByteWriter bytes;
    bytes.u32(0xffffffff).u64(content.size()).append(content);
    Section info(bytes.bytes());
    const std::vector<UnitHeader> headers = read_unit_headers(info);
    ASSERT_EQ(headers.size(), 1U);
    EXPECT_EQ(headers[0].encoding, (Encoding{5, 8, 8}));
    EXPECT_EQ(headers[0].abbrev_offset, 0x1'0000'0000U);
    EXPECT_EQ(headers[0].header_bytes, 24);
}

TEST(ReadUnitHeaders, LeavesOutVersionsNobodyWrites) {
    test::ByteWriter bytes =
        test::ByteWriter::with_length(test::ByteWriter().u16(6).u32(0).u32(0).u32(0));
    bytes.append(version_4_unit());
    Section info(bytes.bytes());
    const std::vector<UnitHeader> headers = read_unit_headers(info);
    ASSERT_EQ(headers.size(), 1U);
    EXPECT_EQ(headers[0].encoding.version, 4);
}

TEST(ReadUnitHeaders, EndsAtALengthThatLeavesTheSection) {
    test::ByteWriter bytes = version_4_unit().append(test::ByteWriter().u32(0xfffffff0).u64(0));
    Section info(bytes.bytes());
    EXPECT_EQ(read_unit_headers(info).size(), 1U);
    Section cut(bytes.bytes().first(11));
    EXPECT_TRUE(read_unit_headers(cut).empty());
}

}  // namespace
}  // namespace bobbin::dwarf
