// SPDX-License-Identifier: Apache-2.0
#include "report/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/report/small_profile.h"

namespace bobbin::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::optional<Pattern> pattern(const std::string& text) {
    auto compiled = Pattern::compile(text);
    EXPECT_TRUE(compiled) << text;
    return std::move(*compiled);
}

// Every stack as "leaf<caller<root 3".
std::vector<std::string> stacks_of(const symbolize::NamedProfile& profile) {
    std::vector<std::string> stacks;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        std::string text;
        for (const std::uint32_t location : stack.locations) {
            for (const symbolize::Line& line : profile.locations[location].lines) {
                text += (text.empty() ? "" : "<") + profile.functions[line.function].name;
            }
        }
        stacks.push_back(text + " " + std::to_string(stack.count));
    }
    return stacks;
}

// parse is inlined into run:  malloc<parse<run<main 1,  parse<run<main 2,  idle<main 4
symbolize::NamedProfile example() {
    test::SmallProfile small;
    const auto main = small.location({"main"}, "/bin/app");
    const auto run = small.location({"parse", "run"}, "/bin/app");
    const auto malloc = small.location({"malloc"}, "/lib/libc.so.6");
    const auto idle = small.location({"idle"}, "/bin/app");
    small.stack({malloc, run, main}, 1);
    small.stack({run, main}, 2).walk_end = abi::WALK_END_NO_CFI;
    small.stack({idle, main}, 4);
    return small.profile;
}

std::vector<std::string> filtered(const Filter& filter) {
    symbolize::NamedProfile profile = example();
    apply(filter, profile);
    return stacks_of(profile);
}

TEST(Filter, FocusKeepsStacksThatComeThroughAFunction) {
    EXPECT_THAT(filtered({.focus = pattern("^parse$")}),
                ElementsAre("malloc<parse<run<main 1", "parse<run<main 2"));
}

TEST(Filter, MeetsModulesAndSourceFiles) {
    EXPECT_THAT(filtered({.focus = pattern("libc\\.so")}), ElementsAre("malloc<parse<run<main 1"));
    EXPECT_THAT(filtered({.focus = pattern("/src/idle\\.c")}), ElementsAre("idle<main 4"));
}

TEST(Filter, IgnoreDropsThem) {
    EXPECT_THAT(filtered({.ignore = pattern("parse")}), ElementsAre("idle<main 4"));
    EXPECT_THAT(filtered({.focus = pattern("parse"), .ignore = pattern("malloc")}),
                ElementsAre("parse<run<main 2"));
    EXPECT_THAT(filtered({.ignore = pattern("main")}), IsEmpty());
}

TEST(Filter, HideTakesFunctionsOutOfStacks) {
    EXPECT_THAT(filtered({.hide = pattern("^(parse|main)$")}),
                ElementsAre("malloc<run 1", "run 2", "idle 4"));
}

TEST(Filter, HideOfAModuleTakesItsFramesAndWhatIsNothingElseGoes) {
    EXPECT_THAT(filtered({.hide = pattern("/bin/app")}), ElementsAre("malloc 1"));
}

TEST(Filter, ShowFromCutsOffWhatIsAbove) {
    EXPECT_THAT(filtered({.show_from = pattern("^run$")}),
                ElementsAre("malloc<parse<run 1", "parse<run 2"));
    EXPECT_THAT(filtered({.show_from = pattern("^parse$")}),
                ElementsAre("malloc<parse 1", "parse 2"));
}

TEST(Filter, ShowFromTakesTheOutermostOfARecursion) {
    test::SmallProfile small;
    const auto f = small.location({"f"}, "/bin/app");
    const auto g = small.location({"g"}, "/bin/app");
    small.stack({g, f, g, f, g}, 1);
    apply({.show_from = pattern("^f$")}, small.profile);
    EXPECT_THAT(stacks_of(small.profile), ElementsAre("g<f<g<f 1"));
}

TEST(Filter, CountsWhatIsLeft) {
    symbolize::NamedProfile profile = example();
    apply({.focus = pattern("parse")}, profile);
    EXPECT_EQ(profile.sample_count, 3U);
    EXPECT_EQ(profile.by_walk_end[abi::WALK_END_BOTTOM], 1U);
    EXPECT_EQ(profile.by_walk_end[abi::WALK_END_NO_CFI], 2U);
}

}  // namespace
}  // namespace bobbin::report
