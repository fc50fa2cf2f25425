// SPDX-License-Identifier: Apache-2.0
#include "screen/cell_text.h"

#include <gtest/gtest.h>

namespace bobbin::screen {
namespace {

TEST(CutToColumns, LeavesWhatFitsAsItIs) {
    const CellText shown = cut("main", 4, true);
    EXPECT_EQ(shown.text, "main");
    EXPECT_EQ(shown.columns, 4U);
}

TEST(CutToColumns, EndsLongerTextWithAnEllipsis) {
    EXPECT_EQ(cut("malloc", 4, true).text, "mal…");
    EXPECT_EQ(cut("malloc", 4, true).columns, 4U);
    EXPECT_EQ(cut("malloc", 4, false).text, "mal~");
    EXPECT_EQ(cut("malloc", 1, true).text, "…");
    EXPECT_EQ(cut("malloc", 0, true).text, "");
}

// U+65E5 and U+672C: East Asian Width W, two columns each.
TEST(CutToColumns, CountsWideCharactersTwice) {
    EXPECT_EQ(cut("日本", 4, true).columns, 4U);
    const CellText shown = cut("日本x", 4, true);
    EXPECT_EQ(shown.text, "日…");
    EXPECT_EQ(shown.columns, 3U) << "the second one would need the ellipsis's column";
}

// A comm may hold anything but NUL: escape sequences must not reach the terminal.
TEST(CutToColumns, EscapesControlCharacters) {
    EXPECT_EQ(cut("a\x1b[2Jb", 20, true).text, "a\\x1b[2Jb");
    EXPECT_EQ(cut("a\xc2\x9b"
                  "b",
                  20, true)
                  .text,
              "a\\xc2\\x9bb");
}

// U+202E turns the direction of writing of all that follows; U+0301 is a combining accent.
TEST(CutToColumns, LeavesOutWhatTakesNoColumn) {
    EXPECT_EQ(cut("a\u202eb", 9, true).text, "ab");
    EXPECT_EQ(cut("e\u0301x", 9, true).text, "ex");
}

TEST(CutToColumns, ReplacesBrokenUtf8) {
    EXPECT_EQ(cut("a\xffz", 9, true).text, "a?z");
    EXPECT_EQ(cut("a\xc0\xafz", 9, true).text, "a??z") << "overlong";
    EXPECT_EQ(cut("a\xe6\x97", 9, true).text, "a??") << "cut off";
}

TEST(CutToColumns, WritesAsciiOnlyWhereTheTerminalKnowsNoMore) {
    EXPECT_EQ(cut("größe", 9, false).text, "gr??e");
    EXPECT_EQ(cut("größe", 9, false).columns, 5U);
}

}  // namespace
}  // namespace bobbin::screen
