// SPDX-License-Identifier: Apache-2.0
#include "screen/frame.h"

#include <fmt/core.h>

#include <algorithm>

#include "screen/cell_text.h"

namespace bobbin::screen {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kEraseToEnd = "\x1b[K";

// Select Graphic Rendition, ECMA-48 8.3.117, and the 256 colours of xterm.
std::string_view with_colours(Style style) {
    switch (style) {
        case Style::kPlain:
            return "";
        case Style::kBold:
            return "\x1b[1m";
        case Style::kDim:
            return "\x1b[2m";
        case Style::kTitle:
        case Style::kSelected:
            return "\x1b[7m";
        case Style::kHot:
            return "\x1b[1;31m";
        case Style::kWarm:
            return "\x1b[33m";
        case Style::kKernel:
            return "\x1b[36m";
        case Style::kFlame0:
            return "\x1b[38;5;16;48;5;215m";
        case Style::kFlame1:
            return "\x1b[38;5;16;48;5;209m";
        case Style::kFlame2:
            return "\x1b[38;5;16;48;5;222m";
        case Style::kKernelFlame:
            return "\x1b[38;5;16;48;5;110m";
        case Style::kWarning:
            return "\x1b[1;31m";
    }
    return "";
}

std::string_view sequence_of(Style style, const Look& look) {
    if (look.colours) return with_colours(style);
    switch (style) {
        case Style::kBold:
        case Style::kHot:
        case Style::kWarning:
            return "\x1b[1m";
        case Style::kTitle:
        case Style::kSelected:
            return "\x1b[7m";
        default:
            return "";
    }
}

}  // namespace

void Line::put(std::string_view shown, std::size_t columns, Style style) {
    if (shown.empty()) return;
    if (sequence_of(style, look_) != sequence_of(style_, look_)) {
        if (!sequence_of(style_, look_).empty()) text_ += kReset;
        text_ += sequence_of(style, look_);
    }
    style_ = style;
    text_ += shown;
    columns_ += columns;
}

Line& Line::add(std::string_view text, Style style) {
    const CellText shown = cut(text, columns_left(), look_.utf8);
    put(shown.text, shown.columns, style);
    return *this;
}

Line& Line::fill_to(std::size_t column, Style style) {
    const std::size_t end = std::min(column, max_columns_);
    if (end > columns_) put(std::string(end - columns_, ' '), end - columns_, style);
    return *this;
}

Line& Line::add_left(std::string_view text, std::size_t columns, Style style) {
    const std::size_t end = std::min(columns_ + columns, max_columns_);
    const CellText shown = cut(text, end - columns_, look_.utf8);
    put(shown.text, shown.columns, style);
    return fill_to(end, style);
}

Line& Line::add_right(std::string_view text, std::size_t columns, Style style) {
    const std::size_t end = std::min(columns_ + columns, max_columns_);
    const CellText shown = cut(text, end - columns_, look_.utf8);
    fill_to(end - shown.columns, style);
    put(shown.text, shown.columns, style);
    return *this;
}

// A line as long as the screen is wide leaves nothing to erase, and behind the last column some
// terminals would erase that column's character.
std::string Line::text() const {
    std::string text = text_;
    if (!sequence_of(style_, look_).empty()) text += kReset;
    if (columns_ < max_columns_) text += kEraseToEnd;
    return text;
}

std::string bytes_to_show(const Page& next, const Page* shown) {
    const bool is_new = shown == nullptr || shown->size != next.size;
    std::string changes = is_new ? "\x1b[0m\x1b[2J" : "";
    const std::size_t count =
        std::max(next.lines.size(), is_new ? std::size_t{0} : shown->lines.size());
    const auto line_at = [](const Page& page, std::size_t row) -> std::string_view {
        return row < page.lines.size() ? std::string_view(page.lines[row]) : std::string_view();
    };
    for (std::size_t row = 0; row < count; ++row) {
        const std::string_view line = line_at(next, row);
        if (line == (is_new ? std::string_view() : line_at(*shown, row))) continue;
        changes += fmt::format("\x1b[{};1H{}", row + 1, line.empty() ? kEraseToEnd : line);
    }
    if (changes.empty()) return {};
    return "\x1b[?2026h" + changes + "\x1b[?2026l";
}

}  // namespace bobbin::screen
