// SPDX-License-Identifier: Apache-2.0
#include "cfi/pointer_encoding.h"

#include <gtest/gtest.h>

#include "unit/cfi/section_builder.h"

namespace bobbin::cfi {
namespace {

using test::Bytes;

constexpr std::uint64_t kField = 0x400000;

// LSB 5.0 section 10.5.1 names these formats; the value is what the bytes say in little endian.
struct Case {
    const char* format;
    std::uint8_t encoding;
    Bytes bytes;
    std::uint64_t value;
};

const Case kCases[] = {
    {"absptr", 0x00, {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}, 0x1122334455667788},
    {"uleb128", 0x01, {0xb9, 0x64}, 12857},  // DWARF 5 table 7.7
    {"udata2", 0x02, {0xfe, 0xff}, 0xfffe},
    {"udata4", 0x03, {0xfe, 0xff, 0xff, 0xff}, 0xfffffffe},
    {"udata8", 0x04, {1, 0, 0, 0, 0, 0, 0, 0x80}, 0x8000000000000001},
    {"sleb128", 0x09, {0x7e}, ~std::uint64_t{1}},
    {"sdata2", 0x0a, {0xfe, 0xff}, ~std::uint64_t{1}},
    {"sdata4", 0x0b, {0xfe, 0xff, 0xff, 0xff}, ~std::uint64_t{1}},
    {"sdata8", 0x0c, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, ~std::uint64_t{1}},
};

TEST(ReadEncodedPointer, ReadsEveryFormatAsAnAbsoluteAddress) {
    for (const Case& c : kCases) {
        ByteReader reader(c.bytes.view());
        EXPECT_EQ(read_encoded_pointer(reader, c.encoding, kField), c.value) << c.format;
        EXPECT_TRUE(reader.ok() && reader.at_end()) << c.format;
    }
}

TEST(ReadEncodedPointer, AddsTheAddressOfTheFieldInPcRelativeForm) {
    for (const Case& c : kCases) {
        ByteReader reader(c.bytes.view());
        const auto pc_relative = static_cast<std::uint8_t>(c.encoding | 0x10);
        EXPECT_EQ(read_encoded_pointer(reader, pc_relative, kField), c.value + kField) << c.format;
    }
}

TEST(ReadEncodedPointer, TakesAStoredZeroForANullPointerInEveryForm) {
    const Bytes zeros = {0, 0, 0, 0};
    ByteReader reader(zeros.view());
    EXPECT_EQ(read_encoded_pointer(reader, 0x1b, kField), 0U);
}

TEST(ReadEncodedPointer, SaysThatItRanOutOfBytes) {
    for (const Case& c : kCases) {
        ByteReader reader(c.bytes.view().first(c.bytes.size() - 1));
        (void)read_encoded_pointer(reader, c.encoding, kField);
        EXPECT_FALSE(reader.ok()) << c.format;
    }
}

TEST(IsReadablePointer, RefusesBasesThatOnlyALoadedImageHas) {
    EXPECT_TRUE(is_readable_pointer(0x1b));   // pcrel sdata4, what gcc writes
    EXPECT_TRUE(is_readable_pointer(0x03));   // udata4
    EXPECT_FALSE(is_readable_pointer(0x2b));  // textrel
    EXPECT_FALSE(is_readable_pointer(0x3b));  // datarel
    EXPECT_FALSE(is_readable_pointer(0x4b));  // funcrel
    EXPECT_FALSE(is_readable_pointer(0x50));  // aligned
    EXPECT_FALSE(is_readable_pointer(0x9b));  // indirect
    EXPECT_FALSE(is_readable_pointer(kOmittedPointer));
}

TEST(IsReadablePointer, RefusesFormatsThatNobodyDefined) {
    for (const int format : {0x05, 0x06, 0x07, 0x08, 0x0d, 0x0e, 0x0f}) {
        EXPECT_FALSE(is_readable_pointer(static_cast<std::uint8_t>(format))) << format;
    }
}

}  // namespace
}  // namespace bobbin::cfi
