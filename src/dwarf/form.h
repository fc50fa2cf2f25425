// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "dwarf/abbrev.h"

namespace bobbin::dwarf {

// The size of a value, or -1 where the value itself says it or the form is not known.
int fixed_size_of(std::uint16_t form, Encoding encoding);

// How the end of a value is found that has no fixed size. An abbreviation keeps these in one byte
// beside numbers of bytes, which lie below the first.
enum class Length : std::uint8_t {
    kUleb = 0x80,
    kString,
    kBlock,
    kBlock1,
    kBlock2,
    kBlock4,
    kIndirect,
    kUnknown,
};
Length length_of(std::uint16_t form);
void skip_value(ByteReader& reader, Length length, Encoding encoding);

// Passes over one value. A form that is not known leaves the reader failed: nothing behind it has
// a known place.
void skip_form(ByteReader& reader, std::uint16_t form, Encoding encoding);

// The bits of a value that is a number, as they stand: an address, an offset, an index, a reference
// within its unit, a constant (sign-extended). Blocks and inline strings are passed over and give
// 0.
std::uint64_t read_raw(ByteReader& reader, const Attribute& attribute, Encoding encoding);

// The same two of an abbreviation's attribute, whose size was looked up: most are fixed.
inline void skip_field(ByteReader& reader, const Attribute& attribute, Encoding encoding) {
    if (attribute.fixed_bytes >= 0) {
        reader.skip(static_cast<std::uint64_t>(attribute.fixed_bytes));
    } else {
        skip_form(reader, attribute.form, encoding);
    }
}
inline std::uint64_t read_field(ByteReader& reader, const Attribute& attribute, Encoding encoding) {
    if (attribute.fixed_bytes == 8) return reader.u64();
    if (attribute.fixed_bytes == 4) return reader.u32();
    return read_raw(reader, attribute, encoding);
}

// 1 to 8 bytes.
std::uint64_t read_sized(ByteReader& reader, unsigned byte_count);

}  // namespace bobbin::dwarf
