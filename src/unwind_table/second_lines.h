// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_table {

// Which second line each range of items goes into. Granules share them: what comes from a later one
// stands behind, at higher offsets, where no search for an earlier one ends. Offsets are compared
// by their low 15 bits, so a line is shared only within a stretch of 2^15 bytes.
class SecondLines {
public:
    // The line for the next range, of `words` words and of the granule that begins at
    // `granule_begin`. Granules come in order, and the ranges of each.
    std::uint32_t place(std::size_t words, std::uint64_t granule_begin) {
        if (words == abi::LINE_WORDS) return count_++;
        if (const std::uint64_t stretch = granule_begin / kStretchBytes; stretch != stretch_) {
            stretch_ = stretch;
            open_.fill({});
        }
        Open* const open = fullest_with_room_for(words);
        if (open->words == 0 || open->words + words > abi::LINE_WORDS) {
            *open = {.line = count_++, .words = 0};
        }
        open->words += words;
        return open->line;
    }
    [[nodiscard]] std::uint32_t count() const { return count_; }

private:
    static constexpr std::uint64_t kStretchBytes = std::uint64_t{abi::ENTRY_OFFSET_MASK} + 1;
    struct Open {
        std::uint32_t line = 0;
        std::size_t words = 0;  // 0: none
    };

    // Where there is none, the fullest of all: it is the one to give up.
    Open* fullest_with_room_for(std::size_t words) {
        Open* best = nullptr;
        Open* fullest = open_.data();
        for (Open& open : open_) {
            const bool fits = open.words + words <= abi::LINE_WORDS;
            if (fits && (best == nullptr || open.words > best->words)) best = &open;
            if (open.words > fullest->words) fullest = &open;
        }
        return best != nullptr ? best : fullest;
    }

    std::array<Open, 4> open_{};  // lines with room
    std::uint64_t stretch_ = 0;
    std::uint32_t count_ = 0;
};

}  // namespace bobbin::unwind_table
