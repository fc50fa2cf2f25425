// SPDX-License-Identifier: Apache-2.0
#include "screen/cell_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "cli/terminal_text.h"

namespace bobbin::screen {
namespace {

using Range = std::pair<char32_t, char32_t>;

// Blocks rather than single characters: names of functions have few of them.
constexpr std::array kWide{
    Range{0x1100, 0x115f},   Range{0x231a, 0x231b},   Range{0x2329, 0x232a},
    Range{0x23e9, 0x23ec},   Range{0x25fd, 0x25fe},   Range{0x2614, 0x2615},
    Range{0x2648, 0x2653},   Range{0x26aa, 0x26ab},   Range{0x26bd, 0x26be},
    Range{0x2705, 0x2705},   Range{0x270a, 0x270b},   Range{0x2728, 0x2728},
    Range{0x274c, 0x274e},   Range{0x2753, 0x2757},   Range{0x2795, 0x2797},
    Range{0x2b1b, 0x2b1c},   Range{0x2b50, 0x2b55},   Range{0x2e80, 0x303e},
    Range{0x3041, 0x4dbf},   Range{0x4e00, 0xa4cf},   Range{0xa960, 0xa97f},
    Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},   Range{0xfe10, 0xfe19},
    Range{0xfe30, 0xfe6f},   Range{0xff01, 0xff60},   Range{0xffe0, 0xffe6},
    Range{0x16fe0, 0x18cff}, Range{0x1aff0, 0x1b2ff}, Range{0x1f18e, 0x1f19a},
    Range{0x1f200, 0x1f64f}, Range{0x1f680, 0x1f6ff}, Range{0x1f7e0, 0x1f7f0},
    Range{0x1f900, 0x1f9ff}, Range{0x1fa70, 0x1faff}, Range{0x20000, 0x3fffd},
};
constexpr std::array kWithoutColumn{
    Range{0x00ad, 0x00ad}, Range{0x0300, 0x036f}, Range{0x0483, 0x0489}, Range{0x0591, 0x05bd},
    Range{0x0610, 0x061a}, Range{0x061c, 0x061c}, Range{0x064b, 0x065f}, Range{0x06d6, 0x06dc},
    Range{0x0900, 0x0902}, Range{0x093c, 0x093c}, Range{0x0941, 0x0948}, Range{0x0e31, 0x0e31},
    Range{0x0e34, 0x0e3a}, Range{0x0e47, 0x0e4e}, Range{0x180b, 0x180f}, Range{0x1ab0, 0x1aff},
    Range{0x1dc0, 0x1dff}, Range{0x200b, 0x200f}, Range{0x2028, 0x202e}, Range{0x2060, 0x206f},
    Range{0x20d0, 0x20ff}, Range{0x302a, 0x302f}, Range{0x3099, 0x309a}, Range{0xfe00, 0xfe0f},
    Range{0xfe20, 0xfe2f}, Range{0xfeff, 0xfeff}, Range{0xfff9, 0xfffb}, Range{0xe0000, 0xe0fff},
};

template <std::size_t Count>
bool is_in(const std::array<Range, Count>& ranges, char32_t character) {
    const auto after = std::ranges::upper_bound(ranges, character, {}, &Range::first);
    return after != ranges.begin() && character <= std::prev(after)->second;
}

struct Character {
    char32_t value = 0;
    std::size_t bytes = 1;
    bool is_broken = true;
};

// The next character; RFC 3629 section 4: no overlong forms, no surrogates.
Character first_of(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return {.value = byte(0), .bytes = 1, .is_broken = false};
    std::size_t bytes = byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) >= 0xf0) bytes = 4;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
    char32_t value = byte(0) & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        value = value << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < kLeast.at(bytes) || value > 0x10ffff || is_surrogate) return {};
    return {.value = value, .bytes = bytes, .is_broken = false};
}

}  // namespace

std::size_t columns_of(char32_t character) {
    if (character < 0x80) return 1;
    if (is_in(kWithoutColumn, character)) return 0;
    return is_in(kWide, character) ? 2 : 1;
}

CellText cut(std::string_view text, std::size_t max_columns, bool utf8) {
    // What cannot be shown anyway need not be escaped: a name may have megabytes.
    constexpr std::size_t kMaxBytesOfColumn = 16;
    const std::string safe = cli::printable(text.substr(0, max_columns * kMaxBytesOfColumn + 64));
    CellText result;
    // As much as leaves a column for the ellipsis.
    std::size_t bytes_before_ellipsis = 0;
    std::size_t columns_before_ellipsis = 0;
    for (std::string_view rest = safe; !rest.empty();) {
        const Character character = first_of(rest);
        const bool is_shown = !character.is_broken && (utf8 || character.value < 0x80);
        const std::size_t columns = is_shown ? columns_of(character.value) : 1;
        if (result.columns + columns > max_columns) {
            if (max_columns == 0) return {};
            result.text.resize(bytes_before_ellipsis);
            result.text += utf8 ? "…" : "~";
            result.columns = columns_before_ellipsis + 1;
            return result;
        }
        if (columns > 0) result.text += is_shown ? rest.substr(0, character.bytes) : "?";
        result.columns += columns;
        if (result.columns < max_columns) {
            bytes_before_ellipsis = result.text.size();
            columns_before_ellipsis = result.columns;
        }
        rest.remove_prefix(character.bytes);
    }
    return result;
}

}  // namespace bobbin::screen
