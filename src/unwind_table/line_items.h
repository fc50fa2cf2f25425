// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_table {

// One word of a line to be: from its offset on `code` holds, or the second line of this number says
// what does.
struct LineItem {
    std::uint32_t offset_from_base = 0;  // of the first item of a line also before the line's range
    std::uint16_t code_or_line = 0;
    bool is_link = false;
    std::uint32_t bytes = 0;  // to the next one, or to the range's end
};

// More items than a granule can have where the builder lets it be: 15 links and one item.
inline constexpr std::size_t kMaxGranuleItems = (abi::LINE_WORDS - 1) * abi::LINE_WORDS + 1;

// How many second lines a granule with so many items needs: each takes up to 16 of them and leaves
// a link.
constexpr std::size_t count_second_lines(std::size_t item_count) {
    constexpr std::size_t kWords = abi::LINE_WORDS;
    return item_count <= kWords ? 0 : (item_count - kWords + kWords - 2) / (kWords - 1);
}

// How many items the last of these takes, which all others leave.
constexpr std::size_t count_rest(std::size_t item_count) {
    constexpr std::size_t kWords = abi::LINE_WORDS;
    const std::size_t lines = count_second_lines(item_count);
    return lines == 0 ? 0 : item_count - kWords + lines - kWords * (lines - 1);
}

// Neighbouring items of a granule that go into a second line.
struct ItemRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// Which items of a granule go into second lines, as few lines as can be and all but one of them
// full: those that hold for the fewest bytes together, so that most look-ups stay in the first
// line. Ascending, disjoint. At most kMaxGranuleItems items.
std::vector<ItemRange> choose_second_lines(std::span<const LineItem> items);

}  // namespace bobbin::unwind_table
