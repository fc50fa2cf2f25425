// SPDX-License-Identifier: Apache-2.0
#include "dwarf/unit_header.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "dwarf/constants.h"

namespace bobbin::dwarf {
namespace {

// Chromium has 40,000 units, ceph-mds after dwz 2,801.
constexpr std::size_t kMaxUnits = 1U << 20;
// 64-bit length, version, unit type, address size, offset, signature, type offset.
constexpr std::uint64_t kMaxHeaderBytes = 40;
constexpr std::uint32_t kLength64Follows = 0xffffffff;
constexpr std::uint32_t kFirstReservedLength = 0xfffffff0;

struct Length {
    std::uint64_t bytes = 0;
    std::uint8_t offset_bytes = 4;
};

std::optional<Length> read_length(ByteReader& reader) {
    const std::uint32_t word = reader.u32();
    if (word == kLength64Follows) return Length{reader.u64(), 8};
    if (word >= kFirstReservedLength) return std::nullopt;
    return Length{word, 4};
}

void read_version_5(ByteReader& reader, UnitHeader& header) {
    header.type = reader.u8();
    header.encoding.address_bytes = reader.u8();
    header.abbrev_offset = header.encoding.offset_bytes == 8 ? reader.u64() : reader.u32();
    if (header.type == kUnitSkeleton || header.type == kUnitSplitCompile) {
        header.dwo_id = reader.u64();
    } else if (header.type == kUnitType || header.type == kUnitSplitType) {
        reader.skip(8U + header.encoding.offset_bytes);  // signature, offset of the type
    }
}

void read_version_4(ByteReader& reader, UnitHeader& header) {
    header.type = kUnitCompile;
    header.abbrev_offset = header.encoding.offset_bytes == 8 ? reader.u64() : reader.u32();
    header.encoding.address_bytes = reader.u8();
}

}  // namespace

bool UnitHeader::has_code() const {
    return type == kUnitCompile || type == kUnitSkeleton || type == kUnitSplitCompile;
}

std::optional<UnitHeader> read_unit_header(std::span<const std::byte> bytes, std::uint64_t offset) {
    ByteReader reader(bytes);
    UnitHeader header;
    header.offset = offset;
    const auto length = read_length(reader);
    if (!length) return std::nullopt;
    header.encoding.offset_bytes = length->offset_bytes;
    if (__builtin_add_overflow(offset + reader.position(), length->bytes, &header.end_offset)) {
        return std::nullopt;
    }
    header.encoding.version = reader.u16();
    if (header.encoding.version < 2 || header.encoding.version > 5) return std::nullopt;
    if (header.encoding.version >= 5) {
        read_version_5(reader, header);
    } else {
        read_version_4(reader, header);
    }
    header.header_bytes = static_cast<std::uint8_t>(reader.position());
    const bool is_known_width =
        header.encoding.address_bytes == 8 || header.encoding.address_bytes == 4;
    if (!reader.ok() || !is_known_width) return std::nullopt;
    if (header.end_offset - offset < header.header_bytes) return std::nullopt;
    return header;
}

std::optional<UnitHeader> UnitHeaderWalk::next() {
    while (offset_ < info_.size_bytes() && count_ < kMaxUnits) {
        const std::span<const std::byte> bytes = info_.view(offset_, kMaxHeaderBytes);
        ByteReader reader(bytes);
        const auto length = read_length(reader);
        if (!reader.ok() || !length || length->bytes == 0) break;
        const std::uint64_t rest = info_.size_bytes() - offset_;
        if (reader.position() > rest || length->bytes > rest - reader.position()) break;
        const std::optional<UnitHeader> header = read_unit_header(bytes, offset_);
        offset_ += reader.position() + length->bytes;
        ++count_;
        if (header) return header;
    }
    return std::nullopt;
}

std::vector<UnitHeader> read_unit_headers(Section& info) {
    std::vector<UnitHeader> headers;
    UnitHeaderWalk walk(info);
    while (const auto header = walk.next()) headers.push_back(*header);
    return headers;
}

std::optional<std::size_t> find_unit(std::span<const UnitHeader> headers, std::uint64_t offset) {
    const auto next = std::ranges::upper_bound(headers, offset, {}, &UnitHeader::offset);
    if (next == headers.begin()) return std::nullopt;
    const auto found = next - 1;
    if (offset >= found->end_offset) return std::nullopt;
    return static_cast<std::size_t>(found - headers.begin());
}

}  // namespace bobbin::dwarf
