// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dwarf/die_walk.h"

namespace bobbin::dwarf {

// Which DIEs are around a DIE of a unit. DIEs do not say it, so one walks from the root; a walk
// that passes over the unit anyway leaves marks every 64 KiB to start from.
class ScopeIndex {
public:
    // A walk is at `place`, inside the DIEs `open`, the outermost first.
    void note(std::uint64_t place, std::span<const std::uint64_t> open) {
        if (place >= next_mark_) mark(place, open);
    }

    // The places of the DIEs around `place`, the root first; empty where no walk gets there.
    [[nodiscard]] std::vector<std::uint64_t> scopes_of(const UnitBytes& unit,
                                                       std::uint64_t place) const;

private:
    // Where to start for `place`, with the DIEs that are open there.
    [[nodiscard]] ByteReader last_mark_before(std::uint64_t place, const UnitBytes& unit,
                                              std::vector<std::uint64_t>& open) const;

    static constexpr std::uint64_t kMarkDistanceBytes = 64U << 10;
    // A mark is a copy of what is open; scopes of functions reach a dozen.
    static constexpr std::size_t kMaxMarkDepth = 64;

    struct Mark {
        std::uint64_t place = 0;
        std::size_t first_open = 0;
        std::size_t open_count = 0;
    };
    void mark(std::uint64_t place, std::span<const std::uint64_t> open);

    std::vector<Mark> marks_;
    std::vector<std::uint64_t> open_;
    std::uint64_t next_mark_ = kMarkDistanceBytes;
};

}  // namespace bobbin::dwarf
