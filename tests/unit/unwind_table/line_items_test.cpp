// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/line_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace bobbin::unwind_table {
namespace {

using Items = std::vector<LineItem>;

Items random_items(std::size_t count, std::mt19937& random) {
    Items items(count);
    for (LineItem& item : items) {
        item.bytes = 1 + static_cast<std::uint32_t>(random() % (1U << random() % 12));
    }
    return items;
}

std::uint64_t bytes_in(const Items& items, std::size_t begin, std::size_t end) {
    std::uint64_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) {
        bytes += items[i].bytes;
    }
    return bytes;
}

// Ranges ascend, are second lines, and leave 16 words; gives their bytes.
std::uint64_t check_ranges(const Items& items, const std::vector<ItemRange>& ranges) {
    std::size_t previous_end = 0;
    std::size_t words = items.size();
    std::uint64_t bytes = 0;
    for (const ItemRange& range : ranges) {
        EXPECT_GE(range.begin, previous_end);
        EXPECT_LT(range.begin, range.end);
        EXPECT_LE(range.end, items.size());
        EXPECT_LE(range.end - range.begin, std::size_t{abi::LINE_WORDS});
        words -= range.end - range.begin - 1;
        bytes += bytes_in(items, range.begin, range.end);
        previous_end = range.end;
    }
    EXPECT_LE(words, std::size_t{abi::LINE_WORDS});
    return bytes;
}

TEST(ChooseSecondLines, NeedsNoneForSixteenItems) {
    std::mt19937 random(1);
    EXPECT_TRUE(choose_second_lines(random_items(16, random)).empty());
}

TEST(ChooseSecondLines, MakesRoomWithAsFewLinesAsCanBe) {
    std::mt19937 random(2);
    for (std::size_t count = 17; count <= kMaxGranuleItems; ++count) {
        const Items items = random_items(count, random);
        const auto ranges = choose_second_lines(items);
        check_ranges(items, ranges);
        // Each takes 16 items for its own word.
        EXPECT_GE(16 + 15 * ranges.size(), count);
        EXPECT_LT(16 + 15 * (ranges.size() - 1), count);
    }
}

// Of all places for two ranges of these lengths, in this order; `second` may be 0.
std::uint64_t fewest_bytes(const Items& items, std::size_t first, std::size_t second) {
    std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t a = 0; a + first <= items.size(); ++a) {
        for (std::size_t b = a + first; b + second <= items.size(); ++b) {
            fewest =
                std::min(fewest, bytes_in(items, a, a + first) + bytes_in(items, b, b + second));
        }
    }
    return fewest;
}

TEST(ChooseSecondLines, TakesTheItemsOfTheFewestBytes) {
    std::mt19937 random(3);
    for (const std::size_t count : {17U, 18U, 25U, 31U, 32U, 33U, 40U, 46U}) {
        for (int round = 0; round < 20; ++round) {
            const Items items = random_items(count, random);
            // 16 words are left: count - rest + 1, or with a full line too count - 16 - rest + 2.
            const std::uint64_t fewest = count <= 31
                                             ? fewest_bytes(items, count - 15, 0)
                                             : std::min(fewest_bytes(items, 16, count - 30),
                                                        fewest_bytes(items, count - 30, 16));
            EXPECT_EQ(check_ranges(items, choose_second_lines(items)), fewest) << count << " items";
        }
    }
}

}  // namespace
}  // namespace bobbin::unwind_table
