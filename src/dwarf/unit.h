// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "dwarf/debug_file.h"
#include "dwarf/form.h"

namespace bobbin::dwarf {

// Addresses of the file, [start, end).
struct Range {
    std::uint64_t start_vaddr = 0;
    std::uint64_t end_vaddr = 0;
};

// What a DIE says of where its code is, as it stands. A form of 0: it does not say so.
struct CodeAttributes {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t ranges = 0;
    std::uint16_t low_form = 0;
    std::uint16_t high_form = 0;
    std::uint16_t ranges_form = 0;

    // Takes the attribute's value from `die` if it is one of the three.
    bool take(ByteReader& die, const Attribute& attribute, Encoding encoding);
    // All three, of a DIE from its first attribute on.
    static CodeAttributes read(ByteReader die, const AbbrevTable& abbrevs, const Abbrev& abbrev,
                               Encoding encoding);
};

// A unit and what its root says that its DIEs are read by.
struct Unit {
    UnitHeader header;
    DebugFile* file = nullptr;
    // Where .debug_addr and, before version 5, .debug_ranges are: a split unit's skeleton has them.
    DebugFile* address_file = nullptr;
    std::shared_ptr<const AbbrevTable> abbrevs;

    CodeAttributes code;
    std::uint64_t low_vaddr = 0;
    std::uint64_t str_offsets_base = 0;
    std::uint64_t addr_base = 0;
    std::uint64_t rnglists_base = 0;
    std::uint64_t ranges_base = 0;  // GNU's, of version 4's split units
    std::optional<std::uint64_t> stmt_list;
    std::uint64_t dwo_id = 0;
    std::string dwo_name;  // empty: not a skeleton
    std::string comp_dir;
    std::uint64_t language = 0;
};

// Where the unit's parts lie in a package (.dwp); all 0 elsewhere.
struct Contribution {
    std::uint64_t abbrev = 0;
    std::uint64_t str_offsets = 0;
    std::uint64_t rnglists = 0;
};

// What read_unit() looks at of a unit, from its header on; a producer's command line can have
// kilobytes.
inline constexpr std::uint64_t kMaxRootBytes = 65536;
Unit read_unit(DebugFile& file, const UnitHeader& header);
// A split unit, with what its skeleton has for it.
Unit read_split_unit(DebugFile& file, const UnitHeader& header, const Unit& skeleton,
                     const Contribution& contribution);

// A value as read_raw gives it, of a form that stands for an address: itself or an index.
std::uint64_t address_of(const Unit& unit, std::uint16_t form, std::uint64_t raw);

// Where a string lies: the section for a look at once and the one for looks in order, which are one
// or two windows of the same. nullptr: of another form, or out of the section.
struct StringPlace {
    Section* section = nullptr;
    Section* late_section = nullptr;
    std::uint64_t offset = 0;
};
// Of a value as read_raw gives it.
StringPlace string_place_of(const Unit& unit, std::uint16_t form, std::uint64_t raw);
// Reads one value that is a string. Empty: of another form, or out of the section. Valid until the
// next string of the file is read.
std::string_view read_string(ByteReader& die, const Unit& unit, const Attribute& attribute);
// The same of a value as read_raw gives it.
std::string_view string_of(const Unit& unit, std::uint16_t form, std::uint64_t raw);

// A DIE of any file.
struct DieReference {
    DebugFile* file = nullptr;  // nullptr: of a form that is not followed (a type's signature)
    std::uint64_t info_offset = 0;

    friend bool operator==(const DieReference&, const DieReference&) = default;
};
DieReference reference_of(const Unit& unit, std::uint16_t form, std::uint64_t raw);

// Adds what of the DIE's code is not empty and not at an address that linkers give to code they
// dropped: 0, 1, -1, -2.
void append_ranges(const Unit& unit, const CodeAttributes& code, std::vector<Range>& ranges);

}  // namespace bobbin::dwarf
