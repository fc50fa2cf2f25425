// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "profile/pprof.h"

namespace bobbin::profile {
namespace {

// One location for each name, each in a function of its own.
symbolize::NamedProfile profile_with(const std::vector<std::string>& names) {
    symbolize::NamedProfile profile;
    for (const std::string& name : names) {
        const auto function = static_cast<std::uint32_t>(profile.functions.size());
        profile.functions.push_back({name, name, ""});
        symbolize::Location location;
        location.lines = {{function, 0}};
        profile.locations.push_back(location);
    }
    return profile;
}

void add_stack(symbolize::NamedProfile& profile, std::string comm,
               std::vector<std::uint32_t> locations, std::uint64_t count) {
    symbolize::NamedStack stack;
    stack.labels.comm = std::move(comm);
    stack.locations = std::move(locations);
    stack.count = count;
    stack.value = count * 10'000'000;
    profile.stacks.push_back(std::move(stack));
}

TEST(EncodeFolded, WritesRootFirstBehindTheProcess) {
    auto profile = profile_with({"leaf", "middle", "main"});
    add_stack(profile, "app", {0, 1, 2}, 42);
    EXPECT_EQ(encode_folded(profile), "app;main;middle;leaf 42\n");
}

TEST(EncodeFolded, MarksKernelFunctions) {
    auto profile = profile_with({"vfs_read", "main"});
    profile.locations[0].is_kernel = true;
    add_stack(profile, "app", {0, 1}, 1);
    EXPECT_EQ(encode_folded(profile), "app;main;vfs_read_[k] 1\n");
}

TEST(EncodeFolded, WritesInlinedFunctionsAsFrames) {
    auto profile = profile_with({"inlined", "main"});
    profile.locations[1].lines = {{0, 3}, {1, 9}};
    add_stack(profile, "app", {1}, 1);
    EXPECT_EQ(encode_folded(profile), "app;main;inlined 1\n");
}

TEST(EncodeFolded, MergesEqualLinesAndSorts) {
    auto profile = profile_with({"f", "f", "g"});
    add_stack(profile, "b", {0}, 1);
    add_stack(profile, "a", {2}, 2);
    add_stack(profile, "a", {0}, 3);
    add_stack(profile, "a", {1}, 4);
    EXPECT_EQ(encode_folded(profile), "a;f 7\na;g 2\nb;f 1\n");
}

TEST(EncodeFolded, KeepsSeparatorsOutOfNames) {
    auto profile = profile_with({"operator;\n\tx"});
    add_stack(profile, "a;b\nc", {0}, 1);
    EXPECT_EQ(encode_folded(profile), "a:b c;operator:  x 1\n");
}

TEST(EncodeFolded, KeepsStacksWithoutFramesOrProcess) {
    auto profile = profile_with({"f"});
    add_stack(profile, "idle", {}, 2);
    add_stack(profile, "", {0}, 1);
    EXPECT_EQ(encode_folded(profile), "[unknown];f 1\nidle 2\n");
}

TEST(EncodeFolded, IsEmptyWithoutStacks) { EXPECT_EQ(encode_folded({}), ""); }

}  // namespace
}  // namespace bobbin::profile
