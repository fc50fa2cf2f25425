// SPDX-License-Identifier: Apache-2.0
#include "report/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bobbin::report {
namespace {

using testing::HasSubstr;

bool matches(const std::string& pattern, std::string_view text) {
    const auto compiled = Pattern::compile(pattern);
    EXPECT_TRUE(compiled) << pattern;
    return compiled && compiled->matches(text);
}

std::string refusal_of(const std::string& pattern) {
    const auto compiled = Pattern::compile(pattern);
    EXPECT_FALSE(compiled) << pattern;
    return compiled ? std::string() : compiled.error().message();
}

TEST(Pattern, IsFoundAnywhere) {
    EXPECT_TRUE(matches("alloc", "operator new, malloc"));
    EXPECT_FALSE(matches("^alloc", "malloc"));
    EXPECT_TRUE(matches("^(read|write)$", "write"));
    EXPECT_TRUE(matches("parse[0-9]{2,3}", "parse123"));
    EXPECT_FALSE(matches("a{2}b", "ab"));
}

TEST(Pattern, ReadsBytesAndNoMoreThanTheTextHas) {
    const std::string text("ab\0cd", 5);
    EXPECT_TRUE(matches("cd$", text));
    EXPECT_FALSE(matches("cd", std::string_view(text).substr(0, 4)));
    EXPECT_TRUE(matches("^$", {}));
    EXPECT_TRUE(matches("x", "\xff\xfex"));
}

TEST(Pattern, LooksAtTheBeginOfALongText) {
    const std::string begin(Pattern::kMaxTextBytes - 1, 'a');
    EXPECT_TRUE(matches("z", begin + "z"));
    EXPECT_FALSE(matches("z", begin + "az"));
}

TEST(Pattern, RefusesWhatIsNotOfPosix) {
    EXPECT_THAT(refusal_of("(?i)main"), HasSubstr("(?"));
    EXPECT_THAT(refusal_of("\\d+"), HasSubstr("[0-9]"));
    EXPECT_THAT(refusal_of("(a)\\1"), HasSubstr("back"));
    EXPECT_FALSE(refusal_of("(a").empty());
    EXPECT_FALSE(refusal_of("[z-a]").empty());
    EXPECT_FALSE(refusal_of(std::string("a\0b", 3)).empty());
    EXPECT_TRUE(matches("a\\\\d", "a\\d"));  // an escaped backslash before a d
}

// glibc would make 255^3 copies of `a`.
TEST(Pattern, RefusesWhatWouldTakeForEver) {
    EXPECT_FALSE(refusal_of("((a{255}){255}){255}").empty());
    EXPECT_FALSE(refusal_of("a{1001}").empty());
    EXPECT_FALSE(refusal_of(std::string(Pattern::kMaxBytes + 1, 'a')).empty());
    EXPECT_TRUE(matches("(a{10}){10}", std::string(100, 'a')));
    EXPECT_TRUE(matches("a{100,}", std::string(100, 'a')));
    EXPECT_FALSE(refusal_of("(a{40,}){40,}").empty());
}

}  // namespace
}  // namespace bobbin::report
