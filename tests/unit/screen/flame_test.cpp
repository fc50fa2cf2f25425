// SPDX-License-Identifier: Apache-2.0
#include "screen/flame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/screen/some_stacks.h"

namespace bobbin::screen {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr Look kPlainLook{.colours = false, .utf8 = false};
constexpr Size kSize{.columns = 20, .rows = 5};

// web 20: main 20 -> parse 15 -> lex 10; main -> emit 5.
FlameGraph some_graph() {
    return make_flame_graph(test::named_profile({{"web", 1, {"lex", "parse", "main"}, 10},
                                                 {"web", 1, {"parse", "main"}, 5},
                                                 {"web", 1, {"emit", "main"}, 5}}));
}

std::string without_styles(std::string text) {
    for (const std::string sequence : {"\x1b[7m", "\x1b[0m", "\x1b[K"}) {
        for (auto at = text.find(sequence); at != std::string::npos; at = text.find(sequence)) {
            text.erase(at, sequence.size());
        }
    }
    return text;
}

std::vector<std::string> lines_of(const FlameView& view, Size size = kSize) {
    std::vector<std::string> lines = draw_flame(some_graph(), view, size, kPlainLook);
    for (std::string& line : lines) line = without_styles(line);
    return lines;
}

// 20 columns for 20 samples: a column each.
TEST(DrawFlame, MakesBoxesAsWideAsTheirShare) {
    EXPECT_THAT(lines_of({}),
                ElementsAre("|all                ", "|web                ", "|main               ",
                            "|parse         |emit", "|lex      "));
}

TEST(DrawFlame, ScrollsUntilTheCursorIsSeen) {
    FlameView view;
    for (int i = 0; i < 4; ++i) step(some_graph(), FlameStep::kDown, view);
    EXPECT_THAT(lines_of(view, {.columns = 20, .rows = 2}),
                ElementsAre("|parse         |emit", "|lex      "));
}

TEST(DrawFlame, GivesTheZoomedBoxTheWholeWidth) {
    FlameView view;
    for (int i = 0; i < 3; ++i) step(some_graph(), FlameStep::kDown, view);
    zoom_in(view);
    // lex has 10 of parse's 15 samples: 13 of 20 columns.
    EXPECT_THAT(lines_of(view),
                ElementsAre("|all                ", "|web                ", "|main               ",
                            "|parse              ", "|lex         "));
    zoom_out(view);
    EXPECT_EQ(lines_of(view), lines_of({}));
}

TEST(MoveInFlame, GoesToNeighboursAndStaysAtTheEnds) {
    const FlameGraph graph = some_graph();
    FlameView view;
    step(graph, FlameStep::kUp, view);
    EXPECT_THAT(view.cursor, SizeIs(0));
    for (int i = 0; i < 3; ++i) step(graph, FlameStep::kDown, view);
    EXPECT_EQ(find_node(graph, view.cursor)->group.name, "parse");
    step(graph, FlameStep::kLeft, view);
    EXPECT_EQ(find_node(graph, view.cursor)->group.name, "parse");
    step(graph, FlameStep::kRight, view);
    EXPECT_EQ(find_node(graph, view.cursor)->group.name, "emit");
    step(graph, FlameStep::kRight, view);
    step(graph, FlameStep::kDown, view);
    EXPECT_EQ(find_node(graph, view.cursor)->group.name, "emit");
    step(graph, FlameStep::kUp, view);
    EXPECT_EQ(find_node(graph, view.cursor)->group.name, "main");
}

TEST(MoveInFlame, GoesOnFromWhatIsLeftOfThePath) {
    FlameView view;
    for (int i = 0; i < 4; ++i) step(some_graph(), FlameStep::kDown, view);
    zoom_in(view);
    const FlameGraph other = make_flame_graph(test::named_profile({{"web", 1, {"main"}, 1}}));
    EXPECT_THAT(existing(other, view.cursor), SizeIs(2)) << "web, main";
    EXPECT_THAT(draw_flame(other, view, kSize, kPlainLook), SizeIs(3));
    step(other, FlameStep::kUp, view);
    EXPECT_EQ(find_node(other, view.cursor)->group.name, "web");
}

TEST(DrawFlame, OfNothingIsOneBox) {
    const FlameGraph nothing = make_flame_graph({});
    EXPECT_THAT(draw_flame(nothing, {}, kSize, kPlainLook), SizeIs(1));
}

}  // namespace
}  // namespace bobbin::screen
