// SPDX-License-Identifier: Apache-2.0
#include "screen/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bobbin::screen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Key named(KeyKind kind) { return {.kind = kind}; }
Key character(char byte) { return {.kind = KeyKind::kCharacter, .byte = byte}; }

TEST(ReadKeys, TellsCharactersFromTheOthers) {
    KeyReader keys;
    EXPECT_THAT(keys.read("q\r\x7f"),
                ElementsAre(character('q'), named(KeyKind::kEnter), named(KeyKind::kBackspace)));
}

// xterm's cursor keys: CSI A to D, SS3 A to D in application mode, CSI 5 ~ for page up.
TEST(ReadKeys, KnowsTheCursorKeysOfBothModes) {
    KeyReader keys;
    EXPECT_THAT(keys.read("\x1b[A\x1bOB\x1b[5~\x1b[C\x1b[D"),
                ElementsAre(named(KeyKind::kUp), named(KeyKind::kDown), named(KeyKind::kPageUp),
                            named(KeyKind::kRight), named(KeyKind::kLeft)));
    EXPECT_FALSE(keys.is_in_sequence());
}

TEST(ReadKeys, WaitsForTheRestOfASequence) {
    KeyReader keys;
    EXPECT_THAT(keys.read("\x1b"), IsEmpty());
    EXPECT_TRUE(keys.is_in_sequence());
    EXPECT_THAT(keys.read("["), IsEmpty());
    EXPECT_THAT(keys.read("Bx"), ElementsAre(named(KeyKind::kDown), character('x')));
}

TEST(ReadKeys, TakesASequenceThatDoesNotComeForEscape) {
    KeyReader keys;
    EXPECT_THAT(keys.read("\x1b"), IsEmpty());
    EXPECT_THAT(keys.give_up_sequence(), ElementsAre(named(KeyKind::kEscape)));
    EXPECT_FALSE(keys.is_in_sequence());
    EXPECT_THAT(keys.give_up_sequence(), IsEmpty());
}

TEST(ReadKeys, LeavesOutSequencesOfOtherKeys) {
    KeyReader keys;
    EXPECT_THAT(keys.read("\x1b[15~\x1b[1;5Cq"), ElementsAre(character('q')));
}

TEST(ReadKeys, EndsASequenceWithoutEnd) {
    KeyReader keys;
    keys.read("\x1b[" + std::string(1000, '1'));
    EXPECT_FALSE(keys.is_in_sequence());
    EXPECT_THAT(keys.read("q"), ElementsAre(character('q')));
}

}  // namespace
}  // namespace bobbin::screen
