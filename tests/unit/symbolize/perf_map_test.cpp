// SPDX-License-Identifier: Apache-2.0
#include "symbolize/perf_map.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;

PerfMapNames read(std::string_view text, const std::vector<std::uint64_t>& addresses) {
    return read_perf_map(bytes_in_memory(std::as_bytes(std::span(text))), addresses);
}

TEST(ReadPerfMap, NamesWhatARangeCovers) {
    const auto read_back =
        read("1000 20 first\n1020 10 second\n", {0xfff, 0x1000, 0x101f, 0x1020, 0x102f, 0x1030});
    EXPECT_THAT(read_back.names, ElementsAre("", "first", "first", "second", "second", ""));
    EXPECT_EQ(read_back.malformed_line_count, 0U);
}

// V8's and HotSpot's (DumpPerfMapAtExit, codeCache.cpp) ways to write a line.
TEST(ReadPerfMap, TakesTheRestOfTheLineAsName) {
    const auto read_back = read(
        "7f2b4c0a1040 1c8 JS:*hot /srv/app with space.js:3:14\n"
        "0x00007f2b4d000000 0x0000000000000040 long Hot.burn(long)\n",
        {0x7f2b4c0a1040, 0x7f2b4d00003f});
    EXPECT_THAT(read_back.names,
                ElementsAre("JS:*hot /srv/app with space.js:3:14", "long Hot.burn(long)"));
}

TEST(ReadPerfMap, LetsLaterLinesOverrideEarlierOnes) {
    const auto read_back = read("1000 100 old\n1040 20 new\n2000 10 small\n1ff0 100 large\n",
                                {0x1000, 0x103f, 0x1040, 0x105f, 0x1060, 0x2000});
    EXPECT_THAT(read_back.names, ElementsAre("old", "old", "new", "new", "old", "large"));
}

TEST(ReadPerfMap, SkipsAndCountsLinesThatAreNone) {
    const auto read_back = read(
        "\nno\n1000\n1000 10\n1000 10 \n1000 zz name\n-1000 10 name\n1000x 10 name\n"
        "11112222333344445 10 too long a number\nfffffffffffffff0 20 past the end\n"
        "1000 10 right\n",
        {0x1000});
    EXPECT_THAT(read_back.names, ElementsAre("right"));
    EXPECT_EQ(read_back.malformed_line_count, 10U);
}

TEST(ReadPerfMap, TakesALastLineWithoutItsEnd) {
    EXPECT_THAT(read("1000 10 a\n1000 8 b", {0x1000, 0x1008}).names, ElementsAre("b", "a"));
}

TEST(ReadPerfMap, KnowsRangesOfNoBytesAndToTheEndOfTheAddressSpace) {
    const auto read_back = read("1000 0 nothing\nffffffffffffff00 ff last\n",
                                {0x1000, 0xffffffffffffff00, 0xfffffffffffffffe, UINT64_MAX});
    EXPECT_THAT(read_back.names, ElementsAre("", "last", "last", ""));
    EXPECT_EQ(read_back.malformed_line_count, 0U);
}

TEST(ReadPerfMap, CutsLongLines) {
    const std::string line = "1000 10 " + std::string(3 * kMaxPerfMapLineBytes, 'n');
    const auto read_back = read(line + "\n2000 10 next\n", {0x1000, 0x2000});
    EXPECT_EQ(read_back.names[0], line.substr(8, kMaxPerfMapLineBytes - 8));
    EXPECT_EQ(read_back.names[1], "next");
}

// 40,000 lines of 30 bytes are several pieces, and lines lie across their borders.
TEST(ReadPerfMap, ReadsFilesOfManyPieces) {
    constexpr std::uint64_t kLines = 40'000;
    std::string text;
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t i = 0; i < kLines; ++i) {
        text += fmt::format("{:x} 10 function_number_{}\n", 0x100000 + 0x10 * i, i);
        addresses.push_back(0x100000 + 0x10 * i + 5);
    }
    const auto read_back = read(text, addresses);
    EXPECT_EQ(read_back.malformed_line_count, 0U);
    for (std::uint64_t i = 0; i < kLines; ++i) {
        ASSERT_EQ(read_back.names[i], fmt::format("function_number_{}", i));
    }
}

// A file of zeros but for its end: what lies before the last 256 MiB is not read, nor is the line
// that is cut there.
TEST(ReadPerfMap, ReadsTheEndOfFilesThatAreTooLarge) {
    const std::string end = "\n1000 10 newest\n";
    const std::uint64_t size = kMaxPerfMapBytes * 4;
    std::uint64_t lowest_read = size;
    const ByteSource file{
        .size_bytes = size, .read = [&](std::uint64_t offset, std::span<std::byte> target) {
            lowest_read = std::min(lowest_read, offset);
            std::memset(target.data(), '1', target.size());
            const std::uint64_t from_end = size - offset;
            if (from_end == target.size()) {
                std::memcpy(target.data() + target.size() - end.size(), end.data(), end.size());
            }
            return target.size();
        }};
    const std::vector<std::uint64_t> addresses{0x1000};
    const auto read_back = read_perf_map(file, addresses);
    EXPECT_THAT(read_back.names, ElementsAre("newest"));
    EXPECT_EQ(read_back.malformed_line_count, 0U);
    EXPECT_EQ(lowest_read, size - kMaxPerfMapBytes);
}

// Each of these covers all addresses: with work for each of them it would be 10^10 steps.
TEST(ReadPerfMap, StandsManyLinesThatCoverManyAddresses) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "0 ffffffffffffffff x\n";
    text += "0 ffffffffffffffff last\n";
    std::vector<std::uint64_t> addresses(100'000);
    for (std::size_t i = 0; i < addresses.size(); ++i) addresses[i] = 16 * i;
    const auto read_back = read(text, addresses);
    EXPECT_EQ(std::ranges::count(read_back.names, "last"), 100'000);
}

}  // namespace
}  // namespace bobbin::symbolize
