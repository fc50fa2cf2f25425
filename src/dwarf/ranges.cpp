// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "dwarf/constants.h"
#include "dwarf/unit.h"

namespace bobbin::dwarf {
namespace {

// The longest list in ceph-osd has 1,300 entries; clang's units have one for each function.
constexpr std::size_t kMaxEntries = 1U << 20;

void add(std::uint64_t start, std::uint64_t end, std::vector<Range>& ranges) {
    // lld writes -1, and -2 where -1 has a meaning of its own; gold and bfd 0, bfd 1 in
    // .debug_ranges.
    constexpr std::uint64_t kLastTombstone = 1;
    constexpr std::uint64_t kFirstTombstone = ~std::uint64_t{1};
    if (start >= end || start <= kLastTombstone || start >= kFirstTombstone) return;
    ranges.push_back({start, end});
}

// DWARF 5 section 2.17.3. One entry; false: the list has ended.
class RangeListReader {
public:
    RangeListReader(const Unit& unit, std::vector<Range>& ranges)
        : unit_(unit), ranges_(ranges), base_vaddr_(unit.low_vaddr) {}

    bool read_entry(ByteReader& list) {
        const std::uint8_t kind = list.u8();
        if (kind == kRleEndOfList || kind > kRleStartLength) return false;
        const std::uint64_t first = read_first(list, kind);
        if (kind == kRleBaseAddressx || kind == kRleBaseAddress) {
            base_vaddr_ = first;
            return list.ok();
        }
        const std::uint64_t second = read_second(list, kind, first);
        if (!list.ok()) return false;
        add(first, second, ranges_);
        return true;
    }

private:
    std::uint64_t read_address(ByteReader& list) const {
        return read_sized(list, unit_.header.encoding.address_bytes);
    }

    std::uint64_t read_first(ByteReader& list, std::uint8_t kind) const {
        switch (kind) {
            case kRleBaseAddressx:
            case kRleStartxEndx:
            case kRleStartxLength:
                return address_of(unit_, kFormAddrx, list.uleb128());
            case kRleOffsetPair:
                return base_vaddr_ + list.uleb128();
            default:
                return read_address(list);
        }
    }

    std::uint64_t read_second(ByteReader& list, std::uint8_t kind, std::uint64_t first) const {
        switch (kind) {
            case kRleStartxEndx:
                return address_of(unit_, kFormAddrx, list.uleb128());
            case kRleOffsetPair:
                return base_vaddr_ + list.uleb128();
            case kRleStartEnd:
                return read_address(list);
            default:
                return first + list.uleb128();
        }
    }

    const Unit& unit_;
    std::vector<Range>& ranges_;
    std::uint64_t base_vaddr_ = 0;
};

// DWARF 4 section 2.17.3: pairs, a first of all ones gives a new base, two zeros end the list.
class OldRangeListReader {
public:
    OldRangeListReader(const Unit& unit, std::vector<Range>& ranges)
        : width_(unit.header.encoding.address_bytes),
          ranges_(ranges),
          base_vaddr_(unit.low_vaddr) {}

    bool read_entry(ByteReader& list) {
        const std::uint64_t all_ones = width_ == 4 ? UINT32_MAX : UINT64_MAX;
        const std::uint64_t first = read_sized(list, width_);
        const std::uint64_t second = read_sized(list, width_);
        if (!list.ok() || (first == 0 && second == 0)) return false;
        if (first == all_ones) {
            base_vaddr_ = second;
        } else if (first < second && first < all_ones - 1) {
            add(base_vaddr_ + first, base_vaddr_ + second, ranges_);
        }
        return true;
    }

private:
    unsigned width_;
    std::vector<Range>& ranges_;
    std::uint64_t base_vaddr_;
};

// Reads on behind the window when a list is longer; entries have at most 21 bytes.
template <class Reader>
void read_list(Section& section, std::uint64_t offset, Reader reader) {
    constexpr std::size_t kEntryBytes = 32;
    for (std::size_t count = 0; count < kMaxEntries;) {
        const std::span<const std::byte> bytes = section.view_at_least(offset, kEntryBytes);
        const bool is_last_view = bytes.size() <= kEntryBytes;
        ByteReader list(bytes);
        while (!list.at_end() && (is_last_view || list.remaining() >= kEntryBytes)) {
            if (++count > kMaxEntries || !reader.read_entry(list)) return;
        }
        if (is_last_view) return;
        offset += list.position();
    }
}

std::uint64_t list_offset(const Unit& unit, std::uint64_t raw, std::uint16_t form) {
    if (form != kFormRnglistx) return raw;
    const unsigned width = unit.header.encoding.offset_bytes;
    Section& rnglists = unit.file->sections.rnglists_offsets;
    if (raw > rnglists.size_bytes()) return ~std::uint64_t{0};
    return unit.rnglists_base + rnglists.number(unit.rnglists_base + raw * width, width);
}

}  // namespace

void append_ranges(const Unit& unit, const CodeAttributes& code, std::vector<Range>& ranges) {
    if (code.ranges_form != 0) {
        if (unit.header.encoding.version >= 5) {
            read_list(unit.file->sections.rnglists,
                      list_offset(unit, code.ranges, code.ranges_form),
                      RangeListReader(unit, ranges));
        } else {
            // Not of the skeleton itself, whose own offsets are whole.
            const std::uint64_t base = unit.address_file == unit.file ? 0 : unit.ranges_base;
            read_list(unit.address_file->sections.ranges, base + code.ranges,
                      OldRangeListReader(unit, ranges));
        }
        return;
    }
    if (code.low_form == 0 || code.high_form == 0) return;
    const std::uint64_t low = address_of(unit, code.low_form, code.low);
    const bool is_address = code.high_form == kFormAddr || code.high_form == kFormAddrx ||
                            code.high_form == kFormGnuAddrIndex ||
                            (code.high_form >= kFormAddrx1 && code.high_form <= kFormAddrx4);
    // DWARF 4 section 2.17.2: a constant is a size.
    const std::uint64_t high =
        is_address ? address_of(unit, code.high_form, code.high) : low + code.high;
    add(low, high, ranges);
}

}  // namespace bobbin::dwarf
