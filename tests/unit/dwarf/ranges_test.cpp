// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "dwarf/constants.h"
#include "dwarf/unit.h"
#include "unit/dwarf/byte_writer.h"

namespace bobbin::dwarf {
namespace {

using test::ByteWriter;
using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// A unit at 0x400000 whose .debug_addr is 0x401000, 0x402000.
class AppendRanges : public testing::Test {
protected:
    Pairs ranges_of(std::uint16_t version, const CodeAttributes& code, const ByteWriter& list) {
        const ByteWriter addresses = ByteWriter().u64(0x401000).u64(0x402000);
        Sections sections;
        sections.addr = Section(addresses.bytes());
        (version >= 5 ? sections.rnglists : sections.ranges) = Section(list.bytes());
        DebugFile file(sections);
        Unit unit;
        unit.file = unit.address_file = &file;
        unit.header.encoding = {version, 4, 8};
        unit.low_vaddr = 0x400000;
        std::vector<Range> ranges;
        append_ranges(unit, code, ranges);
        Pairs pairs;
        for (const Range& range : ranges) pairs.emplace_back(range.start_vaddr, range.end_vaddr);
        return pairs;
    }

    static constexpr CodeAttributes kList{.ranges = 0, .ranges_form = kFormSecOffset};
};

// DWARF 5 section 7.25, each kind of entry once.
TEST_F(AppendRanges, ReadsEveryKindOfEntry) {
    ByteWriter list;
    list.u8s({kRleOffsetPair, 0x10, 0x20});
    list.u8s({kRleStartxEndx, 0, 1});
    list.u8s({kRleStartxLength, 1, 8});
    list.u8(kRleBaseAddress).u64(0x500000).u8s({kRleOffsetPair, 1, 2});
    list.u8s({kRleBaseAddressx, 0, kRleOffsetPair, 3, 4});
    list.u8(kRleStartEnd).u64(0x600000).u64(0x600010);
    list.u8(kRleStartLength).u64(0x700000).u8(5).u8(kRleEndOfList);
    list.u8s({kRleOffsetPair, 0x30, 0x40});
    EXPECT_EQ(ranges_of(5, kList, list), (Pairs{{0x400010, 0x400020},
                                                {0x401000, 0x402000},
                                                {0x402000, 0x402008},
                                                {0x500001, 0x500002},
                                                {0x401003, 0x401004},
                                                {0x600000, 0x600010},
                                                {0x700000, 0x700005}}));
}

// DWARF 4 section 2.17.3.
TEST_F(AppendRanges, ReadsPairsOfVersion4) {
    ByteWriter list;
    list.u64(0x10).u64(0x20).u64(~std::uint64_t{0}).u64(0x500000).u64(1).u64(2);
    list.u64(0).u64(0).u64(0x30).u64(0x40);
    EXPECT_EQ(ranges_of(4, kList, list), (Pairs{{0x400010, 0x400020}, {0x500001, 0x500002}}));
}

TEST_F(AppendRanges, TakesAConstantHighPcAsASize) {
    const CodeAttributes code{
        .low = 0x400100, .high = 0x20, .low_form = kFormAddr, .high_form = kFormData4};
    EXPECT_EQ(ranges_of(5, code, {}), (Pairs{{0x400100, 0x400120}}));
    const CodeAttributes end{
        .low = 0, .high = 0x401800, .low_form = kFormAddrx, .high_form = kFormAddr};
    EXPECT_EQ(ranges_of(5, end, {}), (Pairs{{0x401000, 0x401800}}));
}

// What linkers write for the address of code they dropped: bfd 0 and 1, lld -1 and -2.
TEST_F(AppendRanges, LeavesOutDroppedCode) {
    for (const std::uint64_t low :
         {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, ~std::uint64_t{1}}) {
        const CodeAttributes code{
            .low = low, .high = 8, .low_form = kFormAddr, .high_form = kFormUdata};
        EXPECT_EQ(ranges_of(5, code, {}), Pairs{}) << low;
    }
}

// Longer than the window it is read by.
TEST_F(AppendRanges, ReadsALongListToItsEnd) {
    ByteWriter list;
    Pairs expected;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        list.u8(kRleStartLength).u64(0x800000 + 16 * i).u8(8);
        expected.emplace_back(0x800000 + 16 * i, 0x800000 + 16 * i + 8);
    }
    list.u8(kRleEndOfList);
    EXPECT_EQ(ranges_of(5, kList, list), expected);
}

TEST_F(AppendRanges, EndsWhereTheSectionDoes) {
    const ByteWriter list = ByteWriter().u8s({kRleOffsetPair, 1, 2, kRleStartEnd, 1, 2, 3});
    EXPECT_EQ(ranges_of(5, kList, list), (Pairs{{0x400001, 0x400002}}));
    const CodeAttributes outside{.ranges = 1000, .ranges_form = kFormSecOffset};
    EXPECT_EQ(ranges_of(5, outside, list), Pairs{});
}

}  // namespace
}  // namespace bobbin::dwarf
