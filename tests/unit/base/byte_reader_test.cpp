// SPDX-License-Identifier: Apache-2.0
#include "base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace bobbin {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

TEST(ByteReader, ReadsLittleEndianNumbersInOrder) {
    const auto bytes = bytes_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    ByteReader reader(bytes);
    EXPECT_EQ(reader.u8(), 0x01U);
    EXPECT_EQ(reader.u16(), 0x0302U);
    EXPECT_EQ(reader.u32(), 0x07060504U);
    EXPECT_EQ(reader.u64(), 0x0f0e0d0c0b0a0908U);
    EXPECT_TRUE(reader.ok());
    EXPECT_TRUE(reader.at_end());
    EXPECT_EQ(reader.position(), 15U);
}

TEST(ByteReader, GivesZeroAndStopsForGoodPastTheEnd) {
    const auto bytes = bytes_of({0xff, 0xff, 0xff});
    ByteReader reader(bytes);
    EXPECT_EQ(reader.u32(), 0U);
    EXPECT_FALSE(reader.ok());
    EXPECT_TRUE(reader.at_end());
    EXPECT_EQ(reader.u8(), 0U);
    EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, IsEmptyWithoutBytes) {
    ByteReader reader;
    EXPECT_TRUE(reader.at_end());
    EXPECT_EQ(reader.remaining(), 0U);
    EXPECT_EQ(reader.c_string(), "");
    EXPECT_FALSE(reader.ok());
}

// DWARF 5 table 7.7.
TEST(ByteReader, ReadsTheUnsignedExamplesOfTheStandard) {
    const auto bytes = bytes_of({2, 127, 0x80, 1, 0x81, 1, 0xb9, 0x64});
    ByteReader reader(bytes);
    for (const std::uint64_t value : {2, 127, 128, 129, 12857}) EXPECT_EQ(reader.uleb128(), value);
    EXPECT_TRUE(reader.ok() && reader.at_end());
}

// DWARF 5 table 7.8.
TEST(ByteReader, ReadsTheSignedExamplesOfTheStandard) {
    const auto bytes =
        bytes_of({2, 0x7e, 0xff, 0, 0x81, 0x7f, 0x80, 1, 0x80, 0x7f, 0x81, 1, 0xff, 0x7e});
    ByteReader reader(bytes);
    for (const std::int64_t value : {2, -2, 127, -127, 128, -128, 129, -129}) {
        EXPECT_EQ(reader.sleb128(), value);
    }
    EXPECT_TRUE(reader.ok() && reader.at_end());
}

TEST(ByteReader, ReadsTheExtremesOf64Bits) {
    const auto max = bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01});
    EXPECT_EQ(ByteReader(max).uleb128(), ~std::uint64_t{0});
    const auto min = bytes_of({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f});
    EXPECT_EQ(ByteReader(min).sleb128(), INT64_MIN);
}

TEST(ByteReader, DropsBitsBeyondThe64th) {
    std::vector<std::byte> padded(100, std::byte{0x80});
    padded[0] = std::byte{0x85};
    padded.back() = std::byte{0x7f};
    ByteReader reader(padded);
    EXPECT_EQ(reader.uleb128(), 5U);
    EXPECT_TRUE(reader.ok() && reader.at_end());
    EXPECT_EQ(ByteReader(padded).sleb128(), 5);
}

TEST(ByteReader, FailsOnANumberThatDoesNotEnd) {
    const std::vector<std::byte> endless(1000, std::byte{0x80});
    ByteReader reader(endless);
    (void)reader.uleb128();
    EXPECT_FALSE(reader.ok());
    ByteReader signed_reader(endless);
    (void)signed_reader.sleb128();
    EXPECT_FALSE(signed_reader.ok());
}

TEST(ByteReader, ReadsStringsUpToTheirZero) {
    const auto bytes = bytes_of({'z', 'R', 0, 0, 'x'});
    ByteReader reader(bytes);
    EXPECT_EQ(reader.c_string(), "zR");
    EXPECT_EQ(reader.c_string(), "");
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.c_string(), "");
    EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, HandsOutBytesOnlyWhereThereAreAllOfThem) {
    const auto bytes = bytes_of({1, 2, 3, 4});
    ByteReader reader(bytes);
    EXPECT_EQ(reader.bytes(3).size(), 3U);
    EXPECT_EQ(reader.bytes(~std::uint64_t{0}).size(), 0U);
    EXPECT_FALSE(reader.ok());
    EXPECT_TRUE(reader.at_end());
}

}  // namespace
}  // namespace bobbin
