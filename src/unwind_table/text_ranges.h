// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"

namespace bobbin::unwind_table {

// Bytes of a file that it maps executable.
struct TextRange {
    std::uint64_t file_offset = 0;
    std::uint64_t file_vaddr = 0;
    std::uint64_t size_bytes = 0;
};

// What is executable of a file: ascending by file offset, disjoint both in the file and in memory,
// never empty. Where two segments claim the same file bytes, the first in file order keeps them.
// base_file_offset is the start, rounded down to 64 KiB; all ranges end within 2^32 bytes of it.
struct Text {
    static constexpr std::uint64_t kMaxSpanBytes = 1ULL << 32;

    std::vector<TextRange> ranges;
    std::uint64_t base_file_offset = 0;
};

// Error: the ranges span more than kMaxSpanBytes, a range wraps around the address space, or two
// lie upon each other in memory (a row would then count for each of them, without bound).
Result<Text> find_text(std::span<const elf::LoadSegment> segments);

}  // namespace bobbin::unwind_table
