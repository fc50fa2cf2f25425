// SPDX-License-Identifier: Apache-2.0
#include "cfi/cie_fde.h"

#include <fmt/core.h>

#include <string_view>

#include "cfi/pointer_encoding.h"

namespace bobbin::cfi {
namespace {

constexpr std::uint32_t kLengthIs64Bit = 0xffffffff;

// Versions 1 (gcc), 3 (DWARF 3) and 4; the fields that 4 added may only say what the others mean.
bool read_version_fields(ByteReader& body, std::uint8_t version) {
    if (version != 4) return version == 1 || version == 3;
    const std::uint8_t address_size_bytes = body.u8();
    const std::uint8_t segment_selector_size_bytes = body.u8();
    return address_size_bytes == 8 && segment_selector_size_bytes == 0;
}

// One letter of the augmentation string after 'z'; LSB 5.0 section 10.6.1.1.1.
bool read_augmentation(char letter, ByteReader& data, Cie& cie) {
    switch (letter) {
        case 'R':
            cie.pointer_encoding = data.u8();
            return true;
        case 'L':
            data.skip(1);
            return true;
        case 'P': {
            // An aligned pointer (0x50) would need the address of the field; none is ever written.
            constexpr std::uint8_t kAligned = 0x50;
            const std::uint8_t encoding = data.u8();
            if (encoding == kOmittedPointer) return true;
            if (encoding == kAligned || !has_known_format(encoding)) return false;
            (void)read_encoded_value(data, encoding);
            return true;
        }
        case 'S':
            cie.signal_frame = true;
            return true;
        case 'B':  // AArch64's other signing key: no data and no meaning here
            return true;
        default:
            return false;
    }
}

// What linkers leave where a function was: 0, or all ones in debug sections (lld).
bool is_removed(std::uint64_t start_file_vaddr) {
    return start_file_vaddr == 0 || start_file_vaddr == ~std::uint64_t{0};
}

bool read_augmentations(std::string_view letters, ByteReader& body, Cie& cie) {
    // gas writes the 'z' into .eh_frame only.
    constexpr std::string_view kSignalFrame = "S";
    cie.signal_frame = letters == kSignalFrame;
    if (letters.empty() || cie.signal_frame) return true;
    if (letters.front() != 'z') return false;
    cie.sized_augmentation = true;
    ByteReader data(body.bytes(body.uleb128()));
    for (const char letter : letters.substr(1)) {
        if (!read_augmentation(letter, data, cie) || !data.ok()) return false;
    }
    return true;
}

}  // namespace

std::optional<EntryReader::Length> EntryReader::read_length() {
    const std::size_t offset = reader_.position();
    Length length{.value = reader_.u32()};
    if (reader_.ok() && length.value == 0 && kind_ == SectionKind::kEhFrame) return std::nullopt;
    if (length.value == kLengthIs64Bit) length = {.value = reader_.u64(), .is_64_bit = true};
    if (reader_.ok() && length.value <= reader_.remaining()) return length;
    stopped_ = fmt::format("the entry at {:#x} leaves the section of {:#x} bytes", offset,
                           section_.size());
    return std::nullopt;
}

std::optional<Entry> EntryReader::next() {
    while (!reader_.at_end()) {
        const std::size_t offset = reader_.position();
        const std::optional<Length> length = read_length();
        if (!length) return std::nullopt;
        if (length->value != 0) return read_entry(offset, *length);  // 0: padding
    }
    return std::nullopt;
}

Entry EntryReader::read_entry(std::size_t section_offset, Length length) {
    const std::size_t id_offset = reader_.position();
    ByteReader body(reader_.bytes(length.value));
    Entry entry;
    entry.section_offset = static_cast<std::uint32_t>(section_offset);
    if (kind_ == SectionKind::kEhFrame) {
        read_eh_frame_id(body, id_offset, entry);
    } else {
        read_debug_frame_id(body, length.is_64_bit, entry);
    }
    entry.body_section_offset = static_cast<std::uint32_t>(id_offset + body.position());
    if (!body.ok()) entry.kind = EntryKind::kMalformed;
    entry.body = body.bytes(body.remaining());
    return entry;
}

// The id has four bytes here even where the length has eight, and counts backwards from itself;
// LSB 5.0 section 10.6.1.
void EntryReader::read_eh_frame_id(ByteReader& body, std::size_t id_offset, Entry& entry) {
    const std::uint32_t id = body.u32();
    if (id > id_offset) return;
    entry.kind = id == 0 ? EntryKind::kCie : EntryKind::kFde;
    entry.cie_section_offset = static_cast<std::uint32_t>(id_offset - id);
}

// As wide as the length; the offset in the section, or all ones in a CIE.
void EntryReader::read_debug_frame_id(ByteReader& body, bool is_64_bit, Entry& entry) const {
    constexpr std::uint32_t kCieId32 = 0xffffffff;
    constexpr std::uint64_t kCieId64 = 0xffffffffffffffff;
    const std::uint64_t id = is_64_bit ? body.u64() : body.u32();
    if (id == (is_64_bit ? kCieId64 : kCieId32)) {
        entry.kind = EntryKind::kCie;
    } else if (id < section_.size()) {
        entry.kind = EntryKind::kFde;
        entry.cie_section_offset = static_cast<std::uint32_t>(id);
    }
}

std::optional<Cie> parse_cie(const Entry& entry) {
    ByteReader body(entry.body);
    Cie cie;
    cie.section_offset = entry.section_offset;
    cie.pointer_encoding = kAbsolutePointer;
    const std::uint8_t version = body.u8();
    const std::string_view letters = body.c_string();
    if (!read_version_fields(body, version)) return std::nullopt;
    cie.code_alignment = body.uleb128();
    cie.data_alignment = body.sleb128();
    const std::uint64_t return_address = version == 1 ? body.u8() : body.uleb128();
    if (return_address != kReturnAddress) return std::nullopt;
    if (!read_augmentations(letters, body, cie)) return std::nullopt;
    if (!body.ok() || !is_readable_pointer(cie.pointer_encoding)) return std::nullopt;
    cie.initial_instructions = body.bytes(body.remaining());
    return cie;
}

std::optional<Fde> parse_fde(const Entry& entry, const Cie& cie, std::uint64_t section_file_vaddr) {
    ByteReader body(entry.body);
    Fde fde;
    fde.start_file_vaddr = read_encoded_pointer(body, cie.pointer_encoding,
                                                section_file_vaddr + entry.body_section_offset);
    const std::uint64_t length_bytes = read_encoded_value(body, cie.pointer_encoding);
    if (is_removed(fde.start_file_vaddr)) {
        fde.end_file_vaddr = fde.start_file_vaddr;
    } else if (__builtin_add_overflow(fde.start_file_vaddr, length_bytes, &fde.end_file_vaddr)) {
        return std::nullopt;
    }
    if (cie.sized_augmentation) body.skip(body.uleb128());
    if (!body.ok()) return std::nullopt;
    fde.instructions_section_offset =
        static_cast<std::uint32_t>(entry.body_section_offset + body.position());
    fde.instructions_size_bytes = static_cast<std::uint32_t>(body.remaining());
    return fde;
}

}  // namespace bobbin::cfi
