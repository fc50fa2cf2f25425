// SPDX-License-Identifier: Apache-2.0
#include "profile/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace bobbin::profile {
namespace {

using namespace std::string_literals;

const std::string kBad = "\xEF\xBF\xBD";

TEST(ToValidUtf8, KeepsWellFormedText) {
    // The first and the last code point of each length, and those beside the surrogates.
    for (const std::string& text :
         {"plain"s, "\0\x7f"s, "\xC2\x80"s, "\xDF\xBF"s, "\xE0\xA0\x80"s, "\xEF\xBF\xBF"s,
          "\xED\x9F\xBF"s, "\xEE\x80\x80"s, "\xF0\x90\x80\x80"s, "\xF4\x8F\xBF\xBF"s}) {
        EXPECT_EQ(to_valid_utf8(text), text);
    }
}

TEST(ToValidUtf8, ReplacesEachByteThatIsNone) {
    EXPECT_EQ(to_valid_utf8("a\xFFz"), "a" + kBad + "z");
    EXPECT_EQ(to_valid_utf8("\x80"), kBad);
    EXPECT_EQ(to_valid_utf8("\xC0\xAF"), kBad + kBad);             // "/" in two bytes
    EXPECT_EQ(to_valid_utf8("\xE0\x9F\xBF"), kBad + kBad + kBad);  // U+07FF in three
    EXPECT_EQ(to_valid_utf8("\xED\xA0\x80"), kBad + kBad + kBad);  // U+D800
    EXPECT_EQ(to_valid_utf8("\xF0\x8F\xBF\xBF"), kBad + kBad + kBad + kBad);
    EXPECT_EQ(to_valid_utf8("\xF4\x90\x80\x80"), kBad + kBad + kBad + kBad);  // U+110000
    EXPECT_EQ(to_valid_utf8("\xF5"), kBad);
}

TEST(ToValidUtf8, ReplacesSequencesThatTheEndCuts) {
    EXPECT_EQ(to_valid_utf8("a\xC3"), "a" + kBad);
    EXPECT_EQ(to_valid_utf8("\xE2\x82"), kBad + kBad);
    EXPECT_EQ(to_valid_utf8("\xF0\x9F\x98"), kBad + kBad + kBad);
}

}  // namespace
}  // namespace bobbin::profile
