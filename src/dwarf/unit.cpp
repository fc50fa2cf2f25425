// SPDX-License-Identifier: Apache-2.0
#include "dwarf/unit.h"

#include <algorithm>

#include "dwarf/constants.h"

namespace bobbin::dwarf {
namespace {

bool is_index_of_address(std::uint16_t form) {
    return form == kFormAddrx || form == kFormGnuAddrIndex ||
           (form >= kFormAddrx1 && form <= kFormAddrx4);
}

bool is_index_of_string(std::uint16_t form) {
    return form == kFormStrx || form == kFormGnuStrIndex ||
           (form >= kFormStrx1 && form <= kFormStrx4);
}

StringPlace place_in_str(DebugFile* file, std::uint64_t offset) {
    if (file == nullptr || offset >= file->sections.str.size_bytes()) return {};
    return {&file->sections.str, &file->sections.late_str, offset};
}

StringPlace place_at_index(const Unit& unit, std::uint64_t index) {
    Sections& sections = unit.file->sections;
    const unsigned width = unit.header.encoding.offset_bytes;
    if (index > sections.str_offsets.size_bytes()) return {};
    const std::uint64_t place = unit.str_offsets_base + index * width;
    if (place >= sections.str_offsets.size_bytes()) return {};
    return place_in_str(unit.file, sections.str_offsets.number(place, width));
}

// Where the offsets begin behind the header of .debug_str_offsets.dwo (DWARF 5 section 7.26) or
// .debug_rnglists.dwo (7.28): a split unit does not say so. Version 4 has no header.
std::uint64_t default_str_offsets_base(Encoding encoding) {
    if (encoding.version < 5) return 0;
    return encoding.offset_bytes == 8 ? 16 : 8;
}
std::uint64_t default_rnglists_base(Encoding encoding) {
    return encoding.offset_bytes == 8 ? 20 : 12;
}

// The bases first: the other values may be indexes that count from them.
void take_base(Unit& unit, std::uint16_t name, std::uint64_t raw) {
    switch (name) {
        case kAtStrOffsetsBase:
            unit.str_offsets_base = raw;
            break;
        case kAtAddrBase:
        case kAtGnuAddrBase:
            unit.addr_base = raw;
            break;
        case kAtRnglistsBase:
            unit.rnglists_base = raw;
            break;
        case kAtGnuRangesBase:
            unit.ranges_base = raw;
            break;
        case kAtStmtList:
            unit.stmt_list = raw;
            break;
        case kAtLanguage:
            unit.language = raw;
            break;
        case kAtGnuDwoId:
            unit.dwo_id = raw;
            break;
        default:
            break;
    }
}

// Offset of the DIE in `bytes` at first, then each attribute with a reader at its value.
template <class Visit>
void visit_root(const Unit& unit, std::span<const std::byte> bytes, Visit visit) {
    ByteReader die(bytes);
    const Abbrev* abbrev = unit.abbrevs->find(die.uleb128());
    if (abbrev == nullptr) return;
    for (const Attribute& attribute : unit.abbrevs->attributes_of(*abbrev)) {
        visit(die, attribute);
        if (!die.ok()) return;
    }
}

void read_root(Unit& unit) {
    const Encoding encoding = unit.header.encoding;
    const std::uint64_t start = unit.header.offset + unit.header.header_bytes;
    const std::uint64_t count =
        std::min(unit.header.end_offset - start, kMaxRootBytes - unit.header.header_bytes);
    std::span<const std::byte> bytes =
        unit.file->far_view(start, std::min<std::uint64_t>(count, 512));
    bool is_whole = true;
    const auto take_bases = [&](ByteReader& die, const Attribute& attribute) {
        take_base(unit, attribute.name, read_raw(die, attribute, encoding));
        is_whole = die.ok();
    };
    visit_root(unit, bytes, take_bases);
    if (!is_whole) {
        bytes = unit.file->far_view(start, count);
        visit_root(unit, bytes, take_bases);
    }
    visit_root(unit, bytes, [&](ByteReader& die, const Attribute& attribute) {
        if (unit.code.take(die, attribute, encoding)) return;
        switch (attribute.name) {
            case kAtCompDir:
                unit.comp_dir = read_string(die, unit, attribute);
                break;
            case kAtDwoName:
            case kAtGnuDwoName:
                unit.dwo_name = read_string(die, unit, attribute);
                break;
            default:
                skip_form(die, attribute.form, encoding);
                break;
        }
    });
}

Unit start_unit(DebugFile& file, const UnitHeader& header, std::uint64_t abbrev_offset) {
    Unit unit;
    unit.header = header;
    unit.file = &file;
    unit.address_file = &file;
    unit.dwo_id = header.dwo_id;
    unit.abbrevs = file.abbrevs_at(abbrev_offset, header.encoding);
    return unit;
}

}  // namespace

bool CodeAttributes::take(ByteReader& die, const Attribute& attribute, Encoding encoding) {
    switch (attribute.name) {
        case kAtLowPc:
            low = read_field(die, attribute, encoding);
            low_form = attribute.form;
            return true;
        case kAtHighPc:
            high = read_field(die, attribute, encoding);
            high_form = attribute.form;
            return true;
        case kAtRanges:
            ranges = read_field(die, attribute, encoding);
            ranges_form = attribute.form;
            return true;
        default:
            return false;
    }
}

CodeAttributes CodeAttributes::read(ByteReader die, const AbbrevTable& abbrevs,
                                    const Abbrev& abbrev, Encoding encoding) {
    CodeAttributes code;
    if (abbrev.code_field_count > 0) {
        for (const CodeField& field : abbrevs.code_fields_of(abbrev)) {
            die.skip(field.skip_bytes);
            code.take(die, field.attribute, encoding);
        }
        return code;
    }
    for (const Attribute& attribute : abbrevs.attributes_of(abbrev)) {
        if (!code.take(die, attribute, encoding)) skip_field(die, attribute, encoding);
    }
    return code;
}

Unit read_unit(DebugFile& file, const UnitHeader& header) {
    Unit unit = start_unit(file, header, header.abbrev_offset);
    unit.str_offsets_base = default_str_offsets_base(header.encoding);
    read_root(unit);
    if (unit.code.low_form != 0) {
        unit.low_vaddr = address_of(unit, unit.code.low_form, unit.code.low);
    }
    return unit;
}

Unit read_split_unit(DebugFile& file, const UnitHeader& header, const Unit& skeleton,
                     const Contribution& contribution) {
    Unit unit = start_unit(file, header, contribution.abbrev + header.abbrev_offset);
    unit.str_offsets_base = contribution.str_offsets + default_str_offsets_base(header.encoding);
    unit.rnglists_base = contribution.rnglists + default_rnglists_base(header.encoding);
    unit.address_file = skeleton.address_file;
    unit.addr_base = skeleton.addr_base;
    unit.ranges_base = skeleton.ranges_base;
    read_root(unit);
    unit.low_vaddr = skeleton.low_vaddr;
    unit.comp_dir = skeleton.comp_dir;
    unit.stmt_list = skeleton.stmt_list;
    return unit;
}

std::uint64_t address_of(const Unit& unit, std::uint16_t form, std::uint64_t raw) {
    if (!is_index_of_address(form)) return raw;
    Section& addr = unit.address_file->sections.addr;
    const unsigned width = unit.header.encoding.address_bytes;
    if (raw > addr.size_bytes()) return 0;
    return addr.number(unit.addr_base + raw * width, width);
}

StringPlace string_place_of(const Unit& unit, std::uint16_t form, std::uint64_t raw) {
    if (is_index_of_string(form)) return place_at_index(unit, raw);
    switch (form) {
        case kFormStrp:
            return place_in_str(unit.file, raw);
        case kFormLineStrp: {
            Section& section = unit.file->sections.line_str;
            if (raw >= section.size_bytes()) return {};
            return {&section, &section, raw};
        }
        case kFormStrpSup:
        case kFormGnuStrpAlt:
            return place_in_str(unit.file->supplementary.get(), raw);
        default:
            return {};
    }
}

std::string_view string_of(const Unit& unit, std::uint16_t form, std::uint64_t raw) {
    const StringPlace place = string_place_of(unit, form, raw);
    return place.section != nullptr ? place.section->c_string(place.offset) : std::string_view();
}

std::string_view read_string(ByteReader& die, const Unit& unit, const Attribute& attribute) {
    if (attribute.form == kFormString) return die.c_string();
    const std::uint64_t raw = read_raw(die, attribute, unit.header.encoding);
    return die.ok() ? string_of(unit, attribute.form, raw) : std::string_view();
}

DieReference reference_of(const Unit& unit, std::uint16_t form, std::uint64_t raw) {
    switch (form) {
        case kFormRef1:
        case kFormRef2:
        case kFormRef4:
        case kFormRef8:
        case kFormRefUdata:
            return {unit.file, unit.header.offset + raw};
        case kFormRefAddr:
            return {unit.file, raw};
        case kFormRefSup4:
        case kFormRefSup8:
        case kFormGnuRefAlt:
            return {unit.file->supplementary.get(), raw};
        default:
            return {};
    }
}

}  // namespace bobbin::dwarf
