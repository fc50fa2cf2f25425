// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/byte_reader.h"
#include "dwarf/constants.h"
#include "dwarf/unit.h"

namespace bobbin::dwarf {

// The bytes of one unit, from its header on; places in it count from there.
struct UnitBytes {
    const Unit* unit = nullptr;
    std::span<const std::byte> bytes;

    [[nodiscard]] ByteReader reader_at(std::uint64_t place) const {
        ByteReader reader(bytes);
        reader.skip(place);
        return reader;
    }
    [[nodiscard]] std::uint64_t root() const { return unit->header.header_bytes; }
    [[nodiscard]] const Abbrev* read_abbrev(ByteReader& die) const {
        return unit->abbrevs->find(die.uleb128());
    }
};

// How deep DIEs may be nested. Types of ceph-osd reach 18; beyond this the walk ends.
inline constexpr std::size_t kMaxDieDepth = 4096;

// Goes to the sibling that `value` refers to. A place behind, or outside of the unit, leaves the
// reader failed: the walk would never end.
inline void jump_to_sibling(ByteReader& die, const UnitBytes& bytes, std::uint16_t form,
                            std::uint64_t value) {
    const DieReference target = reference_of(*bytes.unit, form, value);
    const std::uint64_t place = target.info_offset - bytes.unit->header.offset;
    const bool is_ahead = target.file != nullptr && place >= die.position();
    die.skip(is_ahead ? place - die.position() : die.remaining() + std::uint64_t{1});
}

// The same from the DIE's first attribute, of an abbreviation that has a sibling.
inline void skip_to_next_sibling(ByteReader& die, const UnitBytes& bytes, const Abbrev& abbrev) {
    const Unit& unit = *bytes.unit;
    unit.abbrevs->skip_to_sibling(die, abbrev);
    if (abbrev.sibling_form == kFormRef4) {  // GCC's, of all but the largest units
        const std::uint64_t place = die.u32();
        const bool is_ahead = place >= die.position();
        die.skip(is_ahead ? place - die.position() : die.remaining() + std::uint64_t{1});
        return;
    }
    const std::uint64_t value = read_raw(die, {.form = abbrev.sibling_form}, unit.header.encoding);
    jump_to_sibling(die, bytes, abbrev.sibling_form, value);
}

}  // namespace bobbin::dwarf
