// SPDX-License-Identifier: Apache-2.0
#include "dwarf/passing_units.h"

#include <gtest/gtest.h>

#include <vector>

#include "dwarf/constants.h"
#include "unit/dwarf/byte_writer.h"

namespace bobbin::dwarf {
namespace {

// Code 1: a unit with its first address and a size.
test::ByteWriter root_abbrev() {
    test::ByteWriter bytes;
    bytes.u8s({1, kTagCompileUnit, 0});
    bytes.u8s({kAtLowPc, kFormAddr, kAtHighPc, kFormData4, 0, 0});
    return bytes.u8(0);
}

test::ByteWriter unit_at(std::uint64_t vaddr, std::uint32_t size_bytes) {
    return test::ByteWriter::with_length(
        test::ByteWriter().u16(4).u32(0).u8(8).u8(1).u64(vaddr).u32(size_bytes));
}

test::ByteWriter set_of(std::uint32_t info_offset, std::uint64_t vaddr, std::uint64_t size_bytes) {
    test::ByteWriter set;
    set.u16(2).u32(info_offset).u8(8).u8(0).u32(0);  // to a multiple of a tuple's 16 bytes
    return test::ByteWriter::with_length(set.u64(vaddr).u64(size_bytes).u64(0).u64(0));
}

class PassingUnitsTest : public testing::Test {
protected:
    struct Found {
        std::uint64_t unit_offset = 0;
        std::vector<std::uint32_t> queries;
        friend bool operator==(const Found&, const Found&) = default;
    };
    std::vector<Found> find(const std::vector<Query>& queries) {
        Sections sections;
        sections.info = Section(info_.bytes());
        sections.abbrev = Section(abbrev_.bytes());
        sections.aranges = Section(aranges_.bytes());
        DebugFile file(std::move(sections));
        Budget budget;
        PassingUnits units(file, queries, budget);
        std::vector<Found> all;
        while (const auto found = units.next()) {
            all.push_back({found->unit.header.offset, found->queries});
        }
        return all;
    }

    test::ByteWriter info_;
    test::ByteWriter abbrev_ = root_abbrev();
    test::ByteWriter aranges_;
};

// Each unit has 24 bytes: a length, a header of 7, a code, an address and a size.
TEST_F(PassingUnitsTest, GivesEachUnitItsQueriesInTheOrderOfTheFile) {
    info_ = unit_at(0x3000, 0x100).append(unit_at(0x1000, 0x100)).append(unit_at(0x2000, 0x100));
    const std::vector<Query> queries = {{0x1000, 0}, {0x10ff, 0}, {0x1100, 0}, {0x3080, 0}};
    const std::vector<Found> expected = {{0, {3}}, {24, {0, 1}}};
    EXPECT_EQ(find(queries), expected);
}

TEST_F(PassingUnitsTest, GivesTheFirstOfTwoUnitsWhatBothHave) {
    info_ = unit_at(0x1000, 0x80).append(unit_at(0x1000, 0x100));
    const std::vector<Found> expected = {{0, {0}}, {24, {1}}};
    EXPECT_EQ(find({{0x1010, 0}, {0x1090, 0}}), expected);
}

TEST_F(PassingUnitsTest, BelievesTheListOfAddressesBeforeTheRoot) {
    info_ = unit_at(0x1000, 0x100).append(unit_at(0x2000, 0x100));
    aranges_ = set_of(24, 0x5000, 0x10);
    const std::vector<Found> expected = {{0, {0}}, {24, {2}}};
    EXPECT_EQ(find({{0x1000, 0}, {0x2000, 0}, {0x5000, 0}}), expected);
}

}  // namespace
}  // namespace bobbin::dwarf
