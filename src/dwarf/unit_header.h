// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dwarf/abbrev.h"
#include "dwarf/section.h"

namespace bobbin::dwarf {

// DWARF 5 section 7.5.1, and 4's shorter one.
struct UnitHeader {
    std::uint64_t offset = 0;  // in .debug_info
    std::uint64_t end_offset = 0;
    std::uint64_t abbrev_offset = 0;
    std::uint64_t dwo_id = 0;  // of version 5's skeleton and split units
    Encoding encoding;
    std::uint8_t type = 0;
    std::uint8_t header_bytes = 0;  // the root DIE follows

    [[nodiscard]] bool has_code() const;  // neither types alone nor what others import
};

// One header. nullopt: it is cut off, or of a version or an address size that nobody writes.
std::optional<UnitHeader> read_unit_header(std::span<const std::byte> bytes, std::uint64_t offset);

// Hops from length to length through a section; a header that makes no sense is left out, and a
// length that leaves the section ends the walk.
class UnitHeaderWalk {
public:
    explicit UnitHeaderWalk(Section& info) : info_(info) {}

    std::optional<UnitHeader> next();

private:
    Section& info_;
    std::uint64_t offset_ = 0;
    std::size_t count_ = 0;
};

// All of a section.
std::vector<UnitHeader> read_unit_headers(Section& info);

// The unit that holds the offset; nullopt: none does. `headers` ascend.
std::optional<std::size_t> find_unit(std::span<const UnitHeader> headers, std::uint64_t offset);

}  // namespace bobbin::dwarf
