// SPDX-License-Identifier: Apache-2.0
#include "report/function_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/report/small_profile.h"

namespace bobbin::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "name self/total" in samples.
std::vector<std::string> rows_of(const symbolize::NamedProfile& profile, const Grouping& grouping,
                                 Sort sort = Sort::kSelf) {
    std::vector<std::string> rows;
    for (const TableRow& row : make_table(profile, grouping, sort)) {
        EXPECT_EQ(row.self.value, row.self.count * 10);
        EXPECT_EQ(row.total.value, row.total.count * 10);
        rows.push_back(fmt::format("{} {}/{}", row.group.name, row.self.count, row.total.count));
    }
    return rows;
}

TEST(FunctionTable, CountsARecursionOnceAStack) {
    test::SmallProfile small;
    const auto main = small.location({"main"}, "/bin/app");
    const auto f = small.location({"f"}, "/bin/app");
    const auto g = small.location({"g"}, "/bin/app");
    small.stack({f, g, f, f, main}, 3);
    small.stack({g, main}, 2);
    EXPECT_THAT(rows_of(small.profile, {}), ElementsAre("f 3/3", "g 2/5", "main 0/5"));
    EXPECT_THAT(rows_of(small.profile, {}, Sort::kTotal),
                ElementsAre("g 2/5", "main 0/5", "f 3/3"));
}

TEST(FunctionTable, GivesTheSamplesOfInlinedCodeToTheInnermostFunction) {
    test::SmallProfile small;
    const auto both = small.location({"inner", "outer"}, "/bin/app");
    const auto outer = small.location({"outer"}, "/bin/app");
    small.stack({both}, 2);
    small.stack({outer}, 1);
    EXPECT_THAT(rows_of(small.profile, {}), ElementsAre("inner 2/2", "outer 1/3"));
    const auto rows = make_table(small.profile, {}, Sort::kSelf);
    EXPECT_TRUE(rows[0].group.is_inlined);
    EXPECT_FALSE(rows[1].group.is_inlined);
}

TEST(FunctionTable, TellsModulesApart) {
    test::SmallProfile small;
    small.stack({small.location({"init"}, "/lib/a.so")}, 2);
    small.stack({small.location({"init"}, "/lib/b.so")}, 1);
    EXPECT_THAT(rows_of(small.profile, {}), ElementsAre("init 2/2", "init 1/1"));
}

TEST(FunctionTable, ShowsTheLineThatWeighsMost) {
    test::SmallProfile small;
    small.stack({small.location({"f"}, "/bin/app", 7)}, 2);
    small.stack({small.location({"f"}, "/bin/app", 0)}, 9);  // no line known
    small.stack({small.location({"f"}, "/bin/app", 5)}, 3);
    const auto rows = make_table(small.profile, {}, Sort::kSelf);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].group.line, 5U);
    EXPECT_EQ(rows[0].self.count, 14U);
    EXPECT_THAT(rows_of(small.profile, {.by = By::kLine}), ElementsAre("f 9/9", "f 3/3", "f 2/2"));
}

TEST(FunctionTable, CountsFilesAndModules) {
    test::SmallProfile small;
    const auto main = small.location({"main"}, "/bin/app");
    const auto malloc = small.location({"malloc"}, "/lib/libc.so.6");
    small.stack({malloc, main}, 3);
    small.stack({main}, 1);
    EXPECT_THAT(rows_of(small.profile, {.by = By::kModule}),
                ElementsAre("/lib/libc.so.6 3/3", "/bin/app 1/4"));
    EXPECT_THAT(rows_of(small.profile, {.by = By::kFile}),
                ElementsAre("/src/malloc.c 3/3", "/src/main.c 1/4"));
}

TEST(FunctionTable, CountsOwners) {
    test::SmallProfile small;
    const auto main = small.location({"main"}, "/bin/app");
    symbolize::SampleLabels& first = small.stack({main}, 3).labels;
    first = {.pid = 7, .tid = 8, .cpu = 1, .comm = "app", .thread = "worker", .unit = "a.service"};
    first.others = {{"request", "/index"}};
    small.stack({}, 1).labels = {.pid = 7, .tid = 9, .cpu = 0, .comm = "app"};
    using Rows = std::vector<std::string>;
    const auto rows = [&](By by, const std::string& key = {}) {
        return rows_of(small.profile, {.by = by, .label_key = key});
    };
    EXPECT_EQ(rows(By::kProcess), (Rows{"app (7) 4/4"}));
    EXPECT_EQ(rows(By::kThread), (Rows{"worker (8) 3/3", "app (9) 1/1"}));
    EXPECT_EQ(rows(By::kUnit), (Rows{"a.service 3/3", "[none] 1/1"}));
    EXPECT_EQ(rows(By::kCpu), (Rows{"1 3/3", "0 1/1"}));
    EXPECT_EQ(rows(By::kContainer), (Rows{"[none] 4/4"}));
    EXPECT_EQ(rows(By::kLabel, "request"), (Rows{"/index 3/3", "[none] 1/1"}));
    EXPECT_EQ(rows(By::kLabel, "pid"), (Rows{"7 4/4"}));
}

TEST(FunctionTable, OfNothingIsEmpty) {
    EXPECT_THAT(make_table({}, {}, Sort::kSelf), IsEmpty());
    EXPECT_THAT(make_table({}, {.by = By::kUnit}, Sort::kSelf), IsEmpty());
}

TEST(Weight, StopsAtTheTop) {
    Weight weight{UINT64_MAX - 1, 5};
    weight += {7, 7};
    EXPECT_EQ(weight, (Weight{UINT64_MAX, 12}));
}

}  // namespace
}  // namespace bobbin::report
