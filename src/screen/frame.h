// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bobbin::screen {

struct Size {
    std::size_t columns = 80;
    std::size_t rows = 24;

    friend bool operator==(const Size&, const Size&) = default;
};

enum class Style : std::uint8_t {
    kPlain,
    kBold,
    kDim,
    kTitle,   // of columns
    kHot,     // a large share
    kWarm,    // a noticeable one
    kKernel,  // what runs in the kernel
    kSelected,
    kFlame0,  // boxes of user code; which one tells neighbours apart
    kFlame1,
    kFlame2,
    kKernelFlame,
    kWarning,
};

// How this terminal is written to.
struct Look {
    bool colours = true;
    bool utf8 = true;
};

// One line of the screen while it is composed.
class Line {
public:
    Line(Look look, std::size_t max_columns) : look_(look), max_columns_(max_columns) {}

    // As much of a foreign text as fits (cell_text.h).
    Line& add(std::string_view text, Style style = Style::kPlain);
    // In exactly this many columns, blanks behind or before the text.
    Line& add_left(std::string_view text, std::size_t columns, Style style = Style::kPlain);
    Line& add_right(std::string_view text, std::size_t columns, Style style = Style::kPlain);
    // Blanks up to there.
    Line& fill_to(std::size_t column, Style style = Style::kPlain);

    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::size_t columns_left() const { return max_columns_ - columns_; }
    // With control sequences: what was on the line before is gone, the style is plain again.
    [[nodiscard]] std::string text() const;

private:
    void put(std::string_view shown, std::size_t columns, Style style);

    Look look_;
    std::size_t max_columns_;
    std::size_t columns_ = 0;
    std::string text_;
    Style style_ = Style::kPlain;
};

// Lines from the top; fewer than the screen has, or as many.
struct Page {
    Size size;
    std::vector<std::string> lines;
};

// What is written so that a terminal shows `next` where it shows `shown`: lines that differ only,
// between the marks of a synchronized update, which terminals that do not know them ignore. Empty:
// nothing. Without `shown` the screen is cleared first.
std::string bytes_to_show(const Page& next, const Page* shown);

}  // namespace bobbin::screen
