// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/granule_size.h"

#include <algorithm>

#include "unwind_table/line_items.h"
#include "unwind_table/second_lines.h"

namespace bobbin::unwind_table {
namespace {

constexpr std::uint64_t kMaxLines = (std::uint64_t{1} << 24) / abi::LINE_WORDS;
// Words of lines for each 4 entries. Over /usr 7 make 1.53 bytes a row as charged and 5.4 steps a
// search for a row's first and last byte; 6 make 1.43 and 5.7, 8 make 1.68 and 5.1. With cold
// caches, in C++ libraries, look-ups with 6 and with 7 take equally long; in Go's tables they take
// 1.67 lines with 6, 1.57 with 7.
constexpr std::uint64_t kMaxWordsForFourEntries = 7;

std::uint64_t granule_count(std::uint64_t end_offset, unsigned shift) {
    return (end_offset + (std::uint64_t{1} << shift) - 1) >> shift;
}

struct Usage {
    std::uint64_t second_lines = 0;
    std::size_t most_items = 0;  // in one granule
};

// As write_lines does; which items they are does not matter here.
void place(std::size_t items, std::uint64_t granule_begin, SecondLines& lines) {
    const std::size_t ranges = count_second_lines(items);
    for (std::size_t full = 1; full < ranges; ++full) {
        lines.place(abi::LINE_WORDS, granule_begin);
    }
    if (ranges > 0) {
        lines.place(count_rest(items), granule_begin);
    }
}

Usage measure(std::span<const Run> entries, unsigned shift) {
    Usage usage;
    SecondLines lines;
    for (std::size_t begin = 0; begin < entries.size();) {
        const std::uint32_t granule = entries[begin].offset_from_base >> shift;
        const std::uint64_t granule_begin = std::uint64_t{granule} << shift;
        std::size_t end = begin + 1;
        while (end < entries.size() && entries[end].offset_from_base >> shift == granule) {
            ++end;
        }
        // Where no entry begins with the granule, one more says what holds there.
        const std::size_t items =
            end - begin + (entries[begin].offset_from_base == granule_begin ? 0 : 1);
        place(items, granule_begin, lines);
        usage.most_items = std::max(usage.most_items, items);
        begin = end;
    }
    usage.second_lines = lines.count();
    return usage;
}

bool is_possible(const Usage& usage, std::uint64_t granule_count) {
    return usage.most_items <= kMaxGranuleItems && usage.second_lines <= abi::MAX_SECOND_LINES &&
           granule_count + usage.second_lines <= kMaxLines;
}

}  // namespace

Result<Granules> choose_granules(std::span<const Run> entries, std::uint64_t end_offset) {
    const std::uint64_t affordable =
        entries.size() * kMaxWordsForFourEntries / 4 / abi::LINE_WORDS;  // lines
    for (unsigned shift = abi::MIN_GRANULE_SHIFT; shift <= abi::MAX_GRANULE_SHIFT; ++shift) {
        const std::uint64_t count = granule_count(end_offset, shift);
        if (count > affordable) {
            continue;
        }
        const Usage usage = measure(entries, shift);
        if (count + usage.second_lines <= affordable && is_possible(usage, count)) {
            return Granules{shift, static_cast<std::uint32_t>(count)};
        }
    }
    // Sparse, or very dense somewhere: the largest that are possible.
    for (unsigned shift = abi::MAX_GRANULE_SHIFT; shift >= abi::MIN_GRANULE_SHIFT; --shift) {
        const std::uint64_t count = granule_count(end_offset, shift);
        if (count <= kMaxLines && is_possible(measure(entries, shift), count)) {
            return Granules{shift, static_cast<std::uint32_t>(count)};
        }
    }
    return fail("{} unwind entries are too dense for a text of {} bytes", entries.size(),
                end_offset);
}

}  // namespace bobbin::unwind_table
