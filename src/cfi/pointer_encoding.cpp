// SPDX-License-Identifier: Apache-2.0
#include "cfi/pointer_encoding.h"

#include <concepts>

namespace bobbin::cfi {
namespace {

constexpr std::uint8_t kFormatMask = 0x0f;
constexpr std::uint8_t kPcRelative = 0x10;

enum Format : std::uint8_t {
    kAbsptr = 0x00,
    kUleb128 = 0x01,
    kUdata2 = 0x02,
    kUdata4 = 0x03,
    kUdata8 = 0x04,
    kSleb128 = 0x09,
    kSdata2 = 0x0a,
    kSdata4 = 0x0b,
    kSdata8 = 0x0c,
};

constexpr std::uint64_t sign_extend(std::signed_integral auto value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

}  // namespace

bool has_known_format(std::uint8_t encoding) {
    const std::uint8_t format = encoding & kFormatMask;
    return format <= kUdata8 || (format >= kSleb128 && format <= kSdata8);
}

bool is_readable_pointer(std::uint8_t encoding) {
    const int base = encoding & ~kFormatMask;
    return has_known_format(encoding) && (base == kAbsolutePointer || base == kPcRelative);
}

bool is_pc_relative(std::uint8_t encoding) { return (encoding & ~kFormatMask) == kPcRelative; }

std::uint64_t read_encoded_value(ByteReader& reader, std::uint8_t encoding) {
    switch (encoding & kFormatMask) {
        case kUleb128:
            return reader.uleb128();
        case kUdata2:
            return reader.u16();
        case kUdata4:
            return reader.u32();
        case kSleb128:
            return sign_extend(reader.sleb128());
        case kSdata2:
            return sign_extend(reader.read<std::int16_t>());
        case kSdata4:
            return sign_extend(reader.read<std::int32_t>());
        default:  // absptr, udata8 and sdata8 are the same eight bytes
            return reader.u64();
    }
}

std::uint64_t read_encoded_pointer(ByteReader& reader, std::uint8_t encoding,
                                   std::uint64_t field_file_vaddr) {
    const std::uint64_t value = read_encoded_value(reader, encoding);
    return is_pc_relative(encoding) && value != 0 ? field_file_vaddr + value : value;
}

}  // namespace bobbin::cfi
