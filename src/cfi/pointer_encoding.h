// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/byte_reader.h"

namespace bobbin::cfi {

// DW_EH_PE_*, LSB 5.0 section 10.5.1: four bits say how the value is stored, three what it is
// relative to, bit 7 that it is the address of the pointer instead of the pointer.
inline constexpr std::uint8_t kAbsolutePointer = 0x00;
inline constexpr std::uint8_t kOmittedPointer = 0xff;

// Whether the bytes of such a field can be passed over, whatever they mean.
bool has_known_format(std::uint8_t encoding);

// Whether read_encoded_pointer gives an address: stored absolute or relative to the field itself.
// The other bases exist only in a loaded image, and no x86-64 linker uses them for code addresses.
bool is_readable_pointer(std::uint8_t encoding);

// Whether read_encoded_pointer needs the address of the field.
bool is_pc_relative(std::uint8_t encoding);

// The stored number, sign-extended where the format is signed. `encoding` has a known format.
std::uint64_t read_encoded_value(ByteReader& reader, std::uint8_t encoding);

// The address. `encoding` is readable. A stored 0 is a null pointer in every encoding, as in
// libgcc's unwind-pe.h: linkers leave it for functions that they removed.
std::uint64_t read_encoded_pointer(ByteReader& reader, std::uint8_t encoding,
                                   std::uint64_t field_file_vaddr);

}  // namespace bobbin::cfi
