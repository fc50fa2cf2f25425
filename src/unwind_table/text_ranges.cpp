// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/text_ranges.h"

#include <algorithm>
#include <limits>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_table {
namespace {

Result<std::vector<TextRange>> executable_ranges(std::span<const elf::LoadSegment> segments) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    std::vector<TextRange> ranges;
    for (const elf::LoadSegment& segment : segments) {
        const std::uint64_t size_bytes = segment.file_size_bytes;
        if (!segment.executable || size_bytes == 0) {
            continue;
        }
        if (segment.file_offset > kMax - size_bytes || segment.file_vaddr > kMax - size_bytes) {
            return fail("executable segment at offset {:#x}, {:#x} bytes, wraps around",
                        segment.file_offset, size_bytes);
        }
        ranges.push_back({segment.file_offset, segment.file_vaddr, size_bytes});
    }
    return ranges;
}

// Sorts, and cuts off what an earlier range has already.
void make_disjoint_in_file(std::vector<TextRange>& ranges) {
    std::ranges::stable_sort(ranges, {}, &TextRange::file_offset);
    std::uint64_t taken_up_to = 0;
    for (TextRange& range : ranges) {
        const std::uint64_t taken =
            std::min(range.size_bytes, taken_up_to - std::min(taken_up_to, range.file_offset));
        range.file_offset += taken;
        range.file_vaddr += taken;
        range.size_bytes -= taken;
        taken_up_to = std::max(taken_up_to, range.file_offset + range.size_bytes);
    }
    std::erase_if(ranges, [](const TextRange& range) { return range.size_bytes == 0; });
}

bool are_disjoint_in_memory(std::vector<TextRange> ranges) {
    std::ranges::sort(ranges, {}, &TextRange::file_vaddr);
    return std::ranges::adjacent_find(ranges, [](const TextRange& a, const TextRange& b) {
               return a.file_vaddr + a.size_bytes > b.file_vaddr;
           }) == ranges.end();
}

}  // namespace

Result<Text> find_text(std::span<const elf::LoadSegment> segments) {
    Text text;
    BOBBIN_TRY(text.ranges, executable_ranges(segments));
    if (text.ranges.empty()) {
        return text;
    }
    make_disjoint_in_file(text.ranges);
    if (!are_disjoint_in_memory(text.ranges)) {
        return fail("executable segments overlap in memory");
    }
    constexpr std::uint64_t kPageMask = (1ULL << abi::UNWIND_PAGE_SHIFT) - 1;
    text.base_file_offset = text.ranges.front().file_offset & ~kPageMask;
    const TextRange& last = text.ranges.back();
    const std::uint64_t span_bytes = last.file_offset + last.size_bytes - text.base_file_offset;
    if (span_bytes > Text::kMaxSpanBytes) {
        return fail("executable segments span {} bytes, more than 2^32", span_bytes);
    }
    return text;
}

}  // namespace bobbin::unwind_table
