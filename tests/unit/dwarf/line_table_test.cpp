// SPDX-License-Identifier: Apache-2.0
#include "dwarf/line_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dwarf/constants.h"
#include "unit/dwarf/byte_writer.h"

namespace bobbin::dwarf {
namespace {

using test::ByteWriter;

// minimum_instruction_length 1, maximum_operations 1 (from version 4 on), default_is_stmt 1,
// line_base -5, line_range 14, opcode_base 13, operands of opcodes 1 to 12 (DWARF 5 section 6.2.4).
ByteWriter parameters() {
    return ByteWriter().u8s({1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});
}

// Of special opcodes with these parameters: opcode = (line step + 5) + 14 * address step + 13.
std::uint8_t special(int line_step, int address_step) {
    return static_cast<std::uint8_t>(line_step + 5 + 14 * address_step + 13);
}

ByteWriter set_address(std::uint64_t vaddr) {
    return ByteWriter().u8s({0, 9, kLneSetAddress}).u64(vaddr);
}

// At 0x1000 line 10, 0x1004 line 12, file 2 at 0x1010 line 3; ends at 0x1020.
ByteWriter sequence(std::uint64_t vaddr) {
    return set_address(vaddr)
        .u8s({kLnsAdvanceLine, 9, kLnsCopy})
        .u8(special(2, 4))
        .u8s({kLnsSetFile, 2, kLnsAdvancePc, 12, kLnsAdvanceLine, 0x77, kLnsCopy})
        .u8s({kLnsAdvancePc, 16, 0, 1, kLneEndSequence});
}

ByteWriter table(std::uint16_t version, const ByteWriter& names, const ByteWriter& program) {
    ByteWriter header = parameters().append(names);
    ByteWriter content;
    content.u16(version);
    if (version >= 5) content.u8s({8, 0});
    content.append(ByteWriter::with_length(header)).append(program);
    return ByteWriter::with_length(content);
}

// Version 4: directory 1 is /usr/include, 2 is lib below the unit's; files count from 1.
ByteWriter version_4_names() {
    return ByteWriter()
        .text("/usr/include")
        .text("lib")
        .u8(0)
        .text("a.c")
        .u8s({0, 0, 0})
        .text("b.h")
        .u8s({1, 0, 0})
        .text("c.h")
        .u8s({2, 0, 0})
        .u8(0);
}

// Version 5: directory 0 is the unit's; entries state their forms; files count from 0.
ByteWriter version_5_names() {
    return ByteWriter()
        .u8s({1, kLnctPath, kFormString, 2})
        .text("/work")
        .text("lib")
        .u8s({3, kLnctPath, kFormString, kLnctDirectoryIndex, kFormUdata, 5, kFormData16, 3})
        .text("a.c")
        .u8(0)
        .u64(0)
        .u64(0)
        .text("b.h")
        .u8(1)
        .u64(0)
        .u64(0)
        .text("/abs/c.h")
        .u8(1)
        .u64(0)
        .u64(0);
}

class LineTableTest : public testing::Test {
protected:
    std::optional<LineTable> read(const ByteWriter& bytes) {
        bytes_ = bytes;
        Sections sections;
        sections.line = Section(bytes_.bytes());
        file_ = std::make_unique<DebugFile>(sections);
        unit_.file = unit_.address_file = file_.get();
        unit_.header.encoding = {5, 4, 8};
        unit_.comp_dir = "/work";
        unit_.stmt_list = 0;
        return LineTable::read(unit_);
    }

    static std::vector<std::uint32_t> lines_at(const LineTable& lines,
                                               const std::vector<std::uint64_t>& vaddrs) {
        Budget budget;
        std::vector<std::uint32_t> found;
        for (const LineRow& row : lines.find_rows(vaddrs, budget)) {
            found.push_back(row.is_known ? row.line : 0);
        }
        return found;
    }

    ByteWriter bytes_;
    std::unique_ptr<DebugFile> file_;
    Unit unit_;
};

TEST_F(LineTableTest, GivesTheLastRowAtOrBeforeAnAddress) {
    const auto lines = read(table(4, version_4_names(), sequence(0x1000)));
    ASSERT_TRUE(lines);
    EXPECT_EQ(lines_at(*lines, {0xfff, 0x1000, 0x1003, 0x1004, 0x100f, 0x1010, 0x101f, 0x1020}),
              (std::vector<std::uint32_t>{0, 10, 10, 12, 12, 3, 3, 0}));
}

TEST_F(LineTableTest, JoinsDirectoriesOfVersion4) {
    const auto lines = read(table(4, version_4_names(), sequence(0x1000)));
    ASSERT_TRUE(lines);
    EXPECT_EQ(lines->path_of(1), "/work/a.c");
    EXPECT_EQ(lines->path_of(2), "/usr/include/b.h");
    EXPECT_EQ(lines->path_of(3), "/work/lib/c.h");
    EXPECT_EQ(lines->path_of(4), "");
}

TEST_F(LineTableTest, JoinsDirectoriesOfVersion5) {
    const auto lines = read(table(5, version_5_names(), sequence(0x1000)));
    ASSERT_TRUE(lines);
    EXPECT_EQ(lines->path_of(0), "/work/a.c");
    EXPECT_EQ(lines->path_of(1), "/work/lib/b.h");
    EXPECT_EQ(lines->path_of(2), "/abs/c.h");
    EXPECT_EQ(lines_at(*lines, {0x1004}), (std::vector<std::uint32_t>{12}));
}

// Sequences come in any order, one for each section of code.
TEST_F(LineTableTest, ReadsEachSequenceFromItsStart) {
    const auto lines = read(table(4, version_4_names(), sequence(0x3000).append(sequence(0x1000))));
    ASSERT_TRUE(lines);
    EXPECT_EQ(lines_at(*lines, {0x1004, 0x1030, 0x3004, 0x3030}),
              (std::vector<std::uint32_t>{12, 0, 12, 0}));
}

// A linker that drops a function leaves its rows at address 0: 0x10 is not code of it.
TEST_F(LineTableTest, IgnoresCodeThatTheLinkerDropped) {
    const auto lines = read(table(4, version_4_names(), sequence(0)));
    ASSERT_TRUE(lines);
    EXPECT_EQ(lines_at(*lines, {0x10}), (std::vector<std::uint32_t>{0}));
}

TEST_F(LineTableTest, RefusesAHeaderThatMakesNoSense) {
    ByteWriter zero_range = ByteWriter().u8s({1, 1, 1, 0xfb, 0, 1}).append(version_4_names());
    EXPECT_FALSE(read(
        ByteWriter::with_length(ByteWriter().u16(4).append(ByteWriter::with_length(zero_range)))));
    EXPECT_FALSE(read(table(6, version_4_names(), sequence(0x1000))));
    EXPECT_FALSE(read(ByteWriter::with_length(ByteWriter().u16(4).u32(0xffff).u8(1))));
}

}  // namespace
}  // namespace bobbin::dwarf
