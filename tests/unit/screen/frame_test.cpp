// SPDX-License-Identifier: Apache-2.0
#include "screen/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bobbin::screen {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Look kPlainLook{.colours = false, .utf8 = false};

TEST(ComposeLine, AlignsInColumns) {
    Line line(kPlainLook, 11);
    line.add_right("12", 4).add_left("ab", 4).add("xyz");
    EXPECT_EQ(line.text(), "  12ab  xyz") << "full: nothing is erased behind it";
    EXPECT_EQ(line.columns_left(), 0U);
}

TEST(ComposeLine, IsNeverLongerThanTheScreen) {
    Line line(kPlainLook, 5);
    line.add("abc").add("defg").add("h").fill_to(9).add_right("i", 3);
    EXPECT_EQ(line.columns(), 5U);
    EXPECT_EQ(line.text(), "abcd~");
}

TEST(ComposeLine, ErasesWhatWasBehindAShortOne) {
    EXPECT_EQ(Line(kPlainLook, 5).add("ab").text(), "ab\x1b[K");
}

// https://no-color.org: no colours; reverse and bold are none (SGR 7 and 1).
TEST(ComposeLine, HasNoColoursWhereNoneAreWanted) {
    const std::string plain = Line(kPlainLook, 20)
                                  .add("hot", Style::kHot)
                                  .add("k", Style::kKernel)
                                  .add("x", Style::kFlame1)
                                  .text();
    EXPECT_THAT(plain, HasSubstr("\x1b[1mhot"));
    EXPECT_THAT(plain, Not(HasSubstr("\x1b[3")));
    EXPECT_THAT(plain, Not(HasSubstr("38;5")));
    const std::string coloured =
        Line({.colours = true, .utf8 = false}, 20).add("hot", Style::kHot).text();
    EXPECT_THAT(coloured, HasSubstr(";31mhot\x1b[0m"));
}

Page page_of(std::vector<std::string> lines) {
    return {.size = {.columns = 10, .rows = 3}, .lines = std::move(lines)};
}

TEST(ShowPage, WritesOnlyLinesThatChanged) {
    const Page shown = page_of({"head", "a", "b"});
    const std::string bytes = bytes_to_show(page_of({"head", "A", "b"}), &shown);
    EXPECT_EQ(bytes, "\x1b[?2026h\x1b[2;1HA\x1b[?2026l");
}

TEST(ShowPage, WritesNothingWhenNothingChanged) {
    const Page shown = page_of({"head", "a", "b"});
    EXPECT_EQ(bytes_to_show(shown, &shown), "");
}

TEST(ShowPage, ErasesLinesThatAreNoMore) {
    const Page shown = page_of({"head", "a", "b"});
    EXPECT_EQ(bytes_to_show(page_of({"head", "a"}), &shown),
              "\x1b[?2026h\x1b[3;1H\x1b[K\x1b[?2026l");
}

TEST(ShowPage, ClearsFirstWhereTheSizeChanged) {
    const Page shown = page_of({"head", "a", "b"});
    Page next = page_of({"head"});
    next.size.columns = 11;
    const std::string bytes = bytes_to_show(next, &shown);
    EXPECT_THAT(bytes, HasSubstr("\x1b[2J\x1b[1;1Hhead"));
    EXPECT_EQ(bytes, bytes_to_show(next, nullptr));
}

}  // namespace
}  // namespace bobbin::screen
