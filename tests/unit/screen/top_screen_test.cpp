// SPDX-License-Identifier: Apache-2.0
#include "screen/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "unit/screen/some_stacks.h"

namespace bobbin::screen {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr Look kPlainLook{.colours = false, .utf8 = false};

std::shared_ptr<const Snapshot> some_snapshot() {
    return test::snapshot_of({{"web", 7, {"parse", "main"}, 600},
                              {"web", 7, {"emit", "main"}, 300},
                              {"db", 9, {"scan", "serve"}, 100}});
}

// Without control sequences.
std::string text_of(const Page& page) {
    std::string text;
    for (const std::string& line : page.lines) {
        text += std::regex_replace(line, std::regex("\x1b\\[[0-9;]*[a-zA-Z]"), "") + "\n";
    }
    return text;
}

class TopScreenTest : public testing::Test {
protected:
    TopScreenTest() { screen_.show(some_snapshot()); }

    void type(const std::string& text) {
        for (const char byte : text) screen_.press({.kind = KeyKind::kCharacter, .byte = byte});
    }
    void press(KeyKind kind) { screen_.press({.kind = kind}); }
    std::string page(Size size = {.columns = 120, .rows = 20}) {
        return text_of(screen_.draw(size));
    }

    TopScreen screen_{kPlainLook};
};

// 1,000 samples in 10 s at 100 Hz: 1 of 4 CPUs.
TEST_F(TopScreenTest, SaysHowBusyTheMachineIs) {
    EXPECT_THAT(page(), HasSubstr("1.00 of 4 CPUs busy"));
    EXPECT_THAT(page(), HasSubstr("1,000 samples in 10.0s"));
    EXPECT_THAT(page(), HasSubstr("0 lost"));
}

TEST_F(TopScreenTest, SortsBySelfAndOnDemandByTotal) {
    const std::string by_self = page();
    EXPECT_LT(by_self.find("parse"), by_self.find("main"));
    EXPECT_THAT(by_self, HasSubstr(" 60.0 %  60.0 % web"));
    EXPECT_THAT(by_self, HasSubstr("  0.0 %  90.0 % web"));
    type("s");
    const std::string by_total = page();
    EXPECT_LT(by_total.find("main"), by_total.find("parse"));
}

TEST_F(TopScreenTest, ShowsProcesses) {
    type("p");
    EXPECT_THAT(page(), HasSubstr(" 90.0 % web (7)"));
    EXPECT_THAT(page(), HasSubstr(" 10.0 % db (9)"));
    type("p");
    EXPECT_THAT(page(), Not(HasSubstr("db (9)")));
}

TEST_F(TopScreenTest, FiltersAndTakesTheFilterBack) {
    type("/^scan");
    EXPECT_THAT(page(), HasSubstr("parse")) << "not before Enter";
    press(KeyKind::kEnter);
    EXPECT_THAT(page(), HasSubstr(" 10.0 %  10.0 % db"));
    EXPECT_THAT(page(), Not(HasSubstr("parse")));
    press(KeyKind::kEscape);
    EXPECT_THAT(page(), HasSubstr("parse"));
}

TEST_F(TopScreenTest, SaysWhatIsWrongWithAFilterAndKeepsTheOldOne) {
    type("/(");
    press(KeyKind::kEnter);
    EXPECT_TRUE(screen_.view().typed.has_value()) << "to be corrected";
    EXPECT_FALSE(screen_.view().problem.empty());
    press(KeyKind::kBackspace);
    type("db");
    press(KeyKind::kEnter);
    EXPECT_EQ(screen_.view().filter, "db");
}

TEST_F(TopScreenTest, TakesKeysForTextWhileAFilterIsTyped) {
    type("/q");
    EXPECT_EQ(screen_.press({.kind = KeyKind::kCharacter, .byte = 'q'}), TopScreen::Answer::kStay);
    press(KeyKind::kEscape);
    EXPECT_EQ(screen_.view().filter, "");
    EXPECT_EQ(screen_.press({.kind = KeyKind::kCharacter, .byte = 'q'}), TopScreen::Answer::kQuit);
}

TEST_F(TopScreenTest, KeepsWhatIsShownWhilePaused) {
    type(" ");
    screen_.show(test::snapshot_of({{"late", 1, {"other"}, 1}}));
    EXPECT_THAT(page(), HasSubstr("paused"));
    EXPECT_THAT(page(), Not(HasSubstr("late")));
    type(" ");
    EXPECT_THAT(page(), HasSubstr("late"));
    EXPECT_THAT(page(), Not(HasSubstr("paused")));
}

TEST_F(TopScreenTest, ShowsTheFlameViewOfWhatMatches) {
    type("f");
    EXPECT_THAT(page(), HasSubstr("|serve"));
    type("/^web");
    press(KeyKind::kEnter);
    EXPECT_THAT(page(), HasSubstr("|main"));
    EXPECT_THAT(page(), HasSubstr("900 samples"));
    press(KeyKind::kDown);
    press(KeyKind::kDown);
    press(KeyKind::kDown);
    // parse has 600 of the 900 that match.
    EXPECT_THAT(page(), HasSubstr("66.7 % total, 66.7 % self: "));
}

TEST_F(TopScreenTest, ScrollsNoFartherThanThereAreRows) {
    for (int i = 0; i < 9; ++i) press(KeyKind::kPageDown);
    EXPECT_THAT(page(), HasSubstr("parse")) << "five rows fit anyway";
    page({.columns = 80, .rows = 6});
    press(KeyKind::kEnd);
    EXPECT_THAT(page({.columns = 80, .rows = 6}), HasSubstr("main"));
    press(KeyKind::kHome);
    EXPECT_THAT(page({.columns = 80, .rows = 6}), HasSubstr("parse"));
}

TEST_F(TopScreenTest, HelpEndsWithAnyKey) {
    type("?");
    EXPECT_THAT(page(), HasSubstr("zoom in"));
    type("q");
    EXPECT_THAT(page(), HasSubstr("parse"));
}

// Columns that a terminal moves for a line: all bytes but control sequences, in plain ASCII.
std::size_t columns_of_line(const std::string& line) {
    std::size_t columns = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\x1b') {
            ++columns;
            continue;
        }
        while (line[i] < 0x40 || line[i] == '[') ++i;
    }
    return columns;
}

TEST_F(TopScreenTest, FitsAnySize) {
    for (const std::string keys : {"", "p", "f", "?"}) {
        for (const bool has_samples : {false, true}) {
            TopScreen screen(kPlainLook);
            if (has_samples) screen.show(some_snapshot());
            for (const char key : keys) screen.press({.kind = KeyKind::kCharacter, .byte = key});
            for (std::size_t columns = 1; columns <= 130; columns += 3) {
                for (std::size_t rows = 1; rows <= 20; ++rows) {
                    const Page page = screen.draw({.columns = columns, .rows = rows});
                    ASSERT_THAT(page.lines, SizeIs(rows));
                    for (const std::string& line : page.lines) {
                        ASSERT_LE(columns_of_line(line), columns) << line;
                    }
                }
            }
        }
    }
}

TEST_F(TopScreenTest, KeepsTheMostImportantAtFortyColumnsAndTenLines) {
    const std::string small = page({.columns = 40, .rows = 10});
    EXPECT_THAT(small, HasSubstr("CPUs busy"));
    EXPECT_THAT(small, HasSubstr(" 60.0 %  60.0 % web"));
    EXPECT_THAT(small, HasSubstr("parse"));
    EXPECT_THAT(small, HasSubstr("q quit"));
}

}  // namespace
}  // namespace bobbin::screen
