// SPDX-License-Identifier: Apache-2.0
#include "screen/rows.h"

#include <gtest/gtest.h>

#include "unit/screen/some_stacks.h"

namespace bobbin::screen {
namespace {

using test::named_profile;

TEST(FunctionRowsOfTop, CountARecursiveFunctionOncePerStack) {
    const auto profile =
        named_profile({{"web", 1, {"f", "f", "main"}, 5}, {"web", 1, {"main"}, 2}});
    const std::vector<Row> rows = make_function_rows(profile, report::Sort::kTotal);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].function, "main");
    EXPECT_EQ(rows[0].total_count, 7U);
    EXPECT_EQ(rows[0].self_count, 2U);
    EXPECT_EQ(rows[1].function, "f");
    EXPECT_EQ(rows[1].total_count, 5U);
    EXPECT_EQ(rows[1].self_count, 5U);
}

TEST(FunctionRowsOfTop, TellProcessesApartByName) {
    const auto profile =
        named_profile({{"a", 1, {"f"}, 3}, {"b", 2, {"f"}, 4}, {"a", 3, {"f"}, 2}});
    const std::vector<Row> rows = make_function_rows(profile, report::Sort::kSelf);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].process, "a");
    EXPECT_EQ(rows[0].self_count, 5U) << "of both processes of this name";
    EXPECT_EQ(rows[1].process, "b");
}

TEST(ProcessRowsOfTop, SayWhereAProcessIsMostly) {
    const auto profile =
        named_profile({{"a", 1, {"f", "g"}, 3}, {"a", 1, {"h", "g"}, 4}, {"a", 2, {"f"}, 1}});
    const std::vector<Row> rows = make_process_rows(profile);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].process, "a (1)");
    EXPECT_EQ(rows[0].total_count, 7U);
    EXPECT_EQ(rows[0].function, "h");
    EXPECT_EQ(rows[1].process, "a (2)");
}

TEST(FilterOfTop, LooksAtFunctionProcessAndModule) {
    const std::vector<Row> all{{.process = "nginx", .function = "f", .module = "/lib/m.so"},
                               {.process = "x", .function = "nginx_run", .module = "/bin/x"},
                               {.process = "x", .function = "g", .module = "/bin/nginx"},
                               {.process = "x", .function = "g", .module = "/bin/x"}};
    std::vector<Row> rows = all;
    keep_matching(*report::Pattern::compile("nginx"), rows);
    EXPECT_EQ(rows.size(), 3U);
}

TEST(FilterOfTop, KeepsStacksThatComeThroughWhatMatches) {
    auto profile = named_profile(
        {{"a", 1, {"f", "g"}, 3}, {"a", 1, {"h"}, 4}, {"gopher", 2, {"h"}, 1}}, "/bin/x");
    keep_matching(*report::Pattern::compile("^go|^g$"), profile);
    ASSERT_EQ(profile.stacks.size(), 2U);
    EXPECT_EQ(profile.stacks[0].count, 3U);
    EXPECT_EQ(profile.stacks[1].labels.comm, "gopher");
}

}  // namespace
}  // namespace bobbin::screen
