// SPDX-License-Identifier: Apache-2.0
#include "report/call_tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/peek.h"
#include "unit/report/small_profile.h"

namespace bobbin::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// "..name self/total" in samples, a dot for each level.
std::vector<std::string> nodes_of(const CallTree& tree) {
    std::vector<std::string> nodes;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[i];
        if (node.parent == TreeNode::kNoParent) {
            EXPECT_EQ(node.depth, 0U);
        } else {
            EXPECT_LT(node.parent, i);
            EXPECT_EQ(node.depth, tree.nodes[node.parent].depth + 1);
        }
        nodes.push_back(fmt::format("{}{} {}/{}", std::string(node.depth, '.'), node.group.name,
                                    node.self.count, node.total.count));
    }
    return nodes;
}

// main -> f -> {g 5, h 2}, f itself 1, main -> h 4
test::SmallProfile forked() {
    test::SmallProfile small;
    const auto main = small.location({"main"}, "/bin/app");
    const auto f = small.location({"f"}, "/bin/app");
    const auto g = small.location({"g"}, "/bin/app");
    const auto h = small.location({"h"}, "/bin/app");
    small.stack({h, f, main}, 2);
    small.stack({g, f, main}, 5);
    small.stack({h, main}, 4);
    small.stack({f, main}, 1);
    return small;
}

TEST(CallTree, HasEveryChainOfCallsOnce) {
    const CallTree tree = make_call_tree(forked().profile, By::kFunction, {});
    EXPECT_THAT(nodes_of(tree), ElementsAre("main 0/12", ".f 1/8", "..g 5/5", "..h 2/2", ".h 4/4"));
    EXPECT_FALSE(tree.is_cut);
}

TEST(CallTree, BeginsWithProcessesWhereTheyAreKnown) {
    test::SmallProfile small = forked();
    for (symbolize::NamedStack& stack : small.profile.stacks) stack.labels.comm = "sh";
    small.profile.stacks[2].labels.comm = "app";
    EXPECT_THAT(nodes_of(make_call_tree(small.profile, By::kFunction, {})),
                ElementsAre("sh 0/8", ".main 0/8", "..f 1/8", "...g 5/5", "...h 2/2", "app 0/4",
                            ".main 0/4", "..h 4/4"));
}

TEST(CallTree, ShowsInlinedFunctionsBelowTheirCallers) {
    test::SmallProfile small;
    small.stack({small.location({"inner", "outer"}, "/bin/app")}, 1);
    EXPECT_THAT(nodes_of(make_call_tree(small.profile, By::kFunction, {})),
                ElementsAre("outer 0/1", ".inner 1/1"));
    EXPECT_THAT(nodes_of(make_call_tree(small.profile, By::kModule, {})),
                ElementsAre("/bin/app 0/1", "./bin/app 1/1"));
}

TEST(CallTree, KeepsTheHeaviest) {
    const CallTree few = make_call_tree(forked().profile, By::kFunction, {.max_nodes = 3});
    EXPECT_THAT(nodes_of(few), ElementsAre("main 0/12", ".f 1/8", "..g 5/5"));
    EXPECT_TRUE(few.is_cut);
    // Values are ten times the samples: from 4 samples on.
    const CallTree heavy = make_call_tree(forked().profile, By::kFunction, {.min_value = 40});
    EXPECT_THAT(nodes_of(heavy), ElementsAre("main 0/12", ".f 1/8", "..g 5/5", ".h 4/4"));
}

TEST(CallTree, EndsAtTheGreatestDepth) {
    test::SmallProfile small;
    const auto f = small.location({"f"}, "/bin/app");
    small.stack(std::vector<std::uint32_t>(100'000, f), 1);
    const CallTree tree = make_call_tree(small.profile, By::kFunction, {.max_depth = 50});
    EXPECT_THAT(tree.nodes, SizeIs(50));
    EXPECT_TRUE(tree.is_cut);
}

TEST(CallTree, OfNothingIsEmpty) {
    EXPECT_THAT(make_call_tree({}, By::kFunction, {}).nodes, IsEmpty());
}

std::vector<std::string> names_of(const std::vector<Neighbour>& neighbours) {
    std::vector<std::string> names;
    for (const Neighbour& neighbour : neighbours) {
        names.push_back(fmt::format("{} {}", neighbour.group.name, neighbour.weight.count));
    }
    return names;
}

TEST(Peek, SaysWhatPassesFromCallersToCallees) {
    const std::vector<Peek> peeks =
        peek(forked().profile, By::kFunction, *Pattern::compile("^[fh]$"), Sort::kTotal);
    ASSERT_THAT(peeks, SizeIs(2));
    EXPECT_EQ(peeks[0].row.group.name, "f");
    EXPECT_EQ(peeks[0].row.self.count, 1U);
    EXPECT_EQ(peeks[0].row.total.count, 8U);
    EXPECT_THAT(names_of(peeks[0].callers), ElementsAre("main 8"));
    EXPECT_THAT(names_of(peeks[0].callees), ElementsAre("g 5", "h 2"));
    EXPECT_THAT(names_of(peeks[1].callers), ElementsAre("main 4", "f 2"));
    EXPECT_THAT(names_of(peeks[1].callees), IsEmpty());
}

TEST(Peek, CountsACallOnceAStackAndNoCallOfItself) {
    test::SmallProfile small;
    const auto f = small.location({"f"}, "/bin/app");
    const auto g = small.location({"g"}, "/bin/app");
    small.stack({g, f, g, f, f}, 3);
    const std::vector<Peek> peeks =
        peek(small.profile, By::kFunction, *Pattern::compile("f"), Sort::kSelf);
    ASSERT_THAT(peeks, SizeIs(1));
    EXPECT_THAT(names_of(peeks[0].callers), ElementsAre("g 3"));
    EXPECT_THAT(names_of(peeks[0].callees), ElementsAre("g 3"));
}

}  // namespace
}  // namespace bobbin::report
