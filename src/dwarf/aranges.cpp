// SPDX-License-Identifier: Apache-2.0
#include "dwarf/aranges.h"

#include <algorithm>
#include <span>

#include "base/byte_reader.h"

namespace bobbin::dwarf {
namespace {

void read_set(std::span<const std::byte> bytes, ListedRanges& listed, Budget& budget) {
    constexpr std::size_t kTupleBytes = 16;
    ByteReader reader(bytes);
    reader.skip(4);
    const std::uint16_t version = reader.u16();
    const std::uint64_t info_offset = reader.u32();
    const std::uint8_t address_bytes = reader.u8();
    const std::uint8_t segment_bytes = reader.u8();
    if (version != 2 || address_bytes != 8 || segment_bytes != 0) return;
    reader.skip((kTupleBytes - reader.position() % kTupleBytes) % kTupleBytes);
    while (reader.remaining() >= kTupleBytes && budget.spend(1)) {
        const std::uint64_t start = reader.u64();
        const std::uint64_t size = reader.u64();
        if (start == 0 && size == 0) break;
        // Linkers leave 0, or 1, for code that they dropped.
        if (start <= 1 || start + size <= start) continue;
        listed.ranges.push_back({info_offset, {start, start + size}});
    }
    listed.info_offsets.push_back(info_offset);
}

}  // namespace

ListedRanges read_aranges(Section& aranges, Budget& budget) {
    ListedRanges listed;
    std::uint64_t offset = 0;
    while (offset < aranges.size_bytes() && budget.spend(1)) {
        const std::uint64_t length = aranges.number(offset, 4);
        if (length >= 0xfffffff0) break;  // 64-bit: nobody writes it; roots will do
        read_set(aranges.view(offset, length + 4), listed, budget);
        offset += length + 4;
    }
    std::ranges::sort(listed.info_offsets);
    std::ranges::stable_sort(listed.ranges, {}, &ListedRanges::UnitRange::info_offset);
    return listed;
}

}  // namespace bobbin::dwarf
