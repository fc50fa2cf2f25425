// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/text_ranges.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "unit/unwind_table/table_reference.h"

namespace bobbin::unwind_table {
namespace {

using test::text_segment;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(FindText, TakesExecutableFileBytesOnly) {
    elf::LoadSegment data = text_segment(0x3000, 0x403000, 0x1000);
    data.executable = false;
    elf::LoadSegment with_bss = text_segment(0x1000, 0x401000, 0x800);
    with_bss.memory_size_bytes = 0x100000;
    const Result<Text> text =
        find_text(std::array{data, text_segment(0x5000, 0x405000, 0), with_bss});
    ASSERT_TRUE(text);
    ASSERT_EQ(text->ranges.size(), 1U);
    EXPECT_EQ(text->ranges[0].file_offset, 0x1000U);
    EXPECT_EQ(text->ranges[0].size_bytes, 0x800U);
}

TEST(FindText, SortsByFileOffsetAndRoundsTheBaseDown) {
    const Result<Text> text = find_text(std::array{text_segment(0x40000, 0x10000, 0x1000),
                                                   text_segment(0x2f123, 0x52f123, 0x1000)});
    ASSERT_TRUE(text);
    ASSERT_EQ(text->ranges.size(), 2U);
    EXPECT_EQ(text->ranges[0].file_offset, 0x2f123U);
    EXPECT_EQ(text->ranges[1].file_offset, 0x40000U);
    EXPECT_EQ(text->base_file_offset, 0x20000U);
}

TEST(FindText, LeavesSharedFileBytesToTheFirst) {
    const Result<Text> text = find_text(std::array{text_segment(0x1800, 0x601800, 0x1000),
                                                   text_segment(0x1000, 0x401000, 0x1000),
                                                   text_segment(0x1900, 0x801900, 0x100)});
    ASSERT_TRUE(text);
    ASSERT_EQ(text->ranges.size(), 2U);
    EXPECT_EQ(text->ranges[0].file_offset, 0x1000U);
    EXPECT_EQ(text->ranges[0].size_bytes, 0x1000U);
    EXPECT_EQ(text->ranges[1].file_offset, 0x2000U);
    EXPECT_EQ(text->ranges[1].file_vaddr, 0x602000U);
    EXPECT_EQ(text->ranges[1].size_bytes, 0x800U);
}

TEST(FindText, RefusesSegmentsUponEachOtherInMemory) {
    const Result<Text> text = find_text(
        std::array{text_segment(0x1000, 0x401000, 0x1000), text_segment(0x2000, 0x401fff, 0x1000)});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().message(), "executable segments overlap in memory");
}

TEST(FindText, RefusesSegmentsThatWrapAround) {
    EXPECT_FALSE(find_text(std::array{text_segment(kMax - 10, 0, 100)}));
    EXPECT_FALSE(find_text(std::array{text_segment(0, kMax - 10, 100)}));
    EXPECT_FALSE(find_text(std::array{text_segment(1, 1, kMax)}));
}

TEST(FindText, RefusesMoreThanFourGibibytesFromTheBase) {
    constexpr std::uint64_t kFourGib = 1ULL << 32;
    EXPECT_TRUE(find_text(std::array{text_segment(0x10000, 0, kFourGib)}));
    EXPECT_FALSE(find_text(std::array{text_segment(0x10001, 0, kFourGib)}));
    EXPECT_FALSE(
        find_text(std::array{text_segment(0, 0, 0x1000), text_segment(kFourGib, 0x10000, 0x1000)}));
    EXPECT_FALSE(find_text(std::array{text_segment(0, 0, kMax)}));
}

TEST(FindText, IsEmptyWithoutExecutableSegments) {
    const Result<Text> text = find_text({});
    ASSERT_TRUE(text);
    EXPECT_TRUE(text->ranges.empty());
}

}  // namespace
}  // namespace bobbin::unwind_table
