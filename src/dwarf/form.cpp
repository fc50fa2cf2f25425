// SPDX-License-Identifier: Apache-2.0
#include "dwarf/form.h"

#include <cstring>

#include "dwarf/constants.h"

namespace bobbin::dwarf {
namespace {

void give_up(ByteReader& reader) { reader.skip(reader.remaining() + std::uint64_t{1}); }

// DWARF 5 section 7.5.3: an indirect value begins with its form. One that names itself, or an
// implicit constant, which has no bytes here, makes no sense: 0, which is no form.
std::uint16_t read_indirect_form(ByteReader& reader) {
    const std::uint64_t form = reader.uleb128();
    const bool makes_sense =
        form != kFormImplicitConst && form != kFormIndirect && form <= UINT16_MAX;
    return makes_sense ? static_cast<std::uint16_t>(form) : std::uint16_t{0};
}

}  // namespace

int fixed_size_of(std::uint16_t form, Encoding encoding) {
    switch (form) {
        case kFormFlagPresent:
        case kFormImplicitConst:
            return 0;
        case kFormData1:
        case kFormFlag:
        case kFormRef1:
        case kFormStrx1:
        case kFormAddrx1:
            return 1;
        case kFormData2:
        case kFormRef2:
        case kFormStrx2:
        case kFormAddrx2:
            return 2;
        case kFormStrx3:
        case kFormAddrx3:
            return 3;
        case kFormData4:
        case kFormRef4:
        case kFormRefSup4:
        case kFormStrx4:
        case kFormAddrx4:
            return 4;
        case kFormData8:
        case kFormRef8:
        case kFormRefSig8:
        case kFormRefSup8:
            return 8;
        case kFormData16:
            return 16;
        case kFormAddr:
            return encoding.address_bytes;
        // DWARF 2 section 7.5.4: as wide as an address, which later versions changed.
        case kFormRefAddr:
            return encoding.version <= 2 ? encoding.address_bytes : encoding.offset_bytes;
        case kFormStrp:
        case kFormSecOffset:
        case kFormStrpSup:
        case kFormLineStrp:
        case kFormGnuRefAlt:
        case kFormGnuStrpAlt:
            return encoding.offset_bytes;
        default:
            return -1;
    }
}

Length length_of(std::uint16_t form) {
    switch (form) {
        case kFormSdata:
        case kFormUdata:
        case kFormRefUdata:
        case kFormStrx:
        case kFormAddrx:
        case kFormLoclistx:
        case kFormRnglistx:
        case kFormGnuAddrIndex:
        case kFormGnuStrIndex:
            return Length::kUleb;
        case kFormString:
            return Length::kString;
        case kFormBlock:
        case kFormExprloc:
            return Length::kBlock;
        case kFormBlock1:
            return Length::kBlock1;
        case kFormBlock2:
            return Length::kBlock2;
        case kFormBlock4:
            return Length::kBlock4;
        case kFormIndirect:
            return Length::kIndirect;
        default:
            return Length::kUnknown;
    }
}

void skip_value(ByteReader& reader, Length length, Encoding encoding) {
    if (length == Length::kIndirect) {
        const std::uint16_t form = read_indirect_form(reader);
        if (const int size = fixed_size_of(form, encoding); size >= 0) {
            reader.skip(static_cast<std::uint64_t>(size));
            return;
        }
        length = length_of(form);
    }
    switch (length) {
        case Length::kUleb:
            reader.uleb128();
            return;
        case Length::kString:
            reader.c_string();
            return;
        case Length::kBlock:
            reader.skip(reader.uleb128());
            return;
        case Length::kBlock1:
            reader.skip(reader.u8());
            return;
        case Length::kBlock2:
            reader.skip(reader.u16());
            return;
        case Length::kBlock4:
            reader.skip(reader.u32());
            return;
        case Length::kIndirect:
        case Length::kUnknown:
            give_up(reader);
            return;
    }
}

void skip_form(ByteReader& reader, std::uint16_t form, Encoding encoding) {
    if (const int size = fixed_size_of(form, encoding); size >= 0) {
        reader.skip(static_cast<std::uint64_t>(size));
    } else {
        skip_value(reader, length_of(form), encoding);
    }
}

std::uint64_t read_sized(ByteReader& reader, unsigned byte_count) {
    switch (byte_count) {
        case 1:
            return reader.u8();
        case 2:
            return reader.u16();
        case 4:
            return reader.u32();
        case 8:
            return reader.u64();
        default:
            break;
    }
    std::uint64_t value = 0;
    const std::span<const std::byte> bytes = reader.bytes(byte_count);
    if (!bytes.empty() && bytes.size() <= sizeof(value)) {
        std::memcpy(&value, bytes.data(), bytes.size());
    }
    return value;
}

std::uint64_t read_raw(ByteReader& reader, const Attribute& attribute, Encoding encoding) {
    switch (attribute.form) {
        case kFormImplicitConst:
            return static_cast<std::uint64_t>(attribute.implicit_const);
        case kFormFlagPresent:
            return 1;
        case kFormSdata:
            return static_cast<std::uint64_t>(reader.sleb128());
        case kFormData16:
            reader.skip(16);
            return 0;
        default:
            break;
    }
    if (length_of(attribute.form) == Length::kUleb) return reader.uleb128();
    const int size = fixed_size_of(attribute.form, encoding);
    if (size > 0) return read_sized(reader, static_cast<unsigned>(size));
    skip_form(reader, attribute.form, encoding);
    return 0;
}

}  // namespace bobbin::dwarf
