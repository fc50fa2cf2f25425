// SPDX-License-Identifier: Apache-2.0
#include "profile/read_folded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profile/pprof.h"

namespace bobbin::profile {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

symbolize::NamedProfile read(const std::string& text) {
    auto profile = read_folded(text);
    EXPECT_TRUE(profile) << profile.error().message();
    return profile ? std::move(*profile) : symbolize::NamedProfile{};
}

std::string error_of(const std::string& text) {
    const auto profile = read_folded(text);
    return profile ? "none" : profile.error().message();
}

TEST(ReadFolded, ReadsProcessFramesAndCount) {
    const symbolize::NamedProfile profile = read("app;main;work 42\n");
    ASSERT_EQ(profile.stacks.size(), 1U);
    const symbolize::NamedStack& stack = profile.stacks[0];
    EXPECT_EQ(stack.labels.comm, "app");
    EXPECT_EQ(stack.count, 42U);
    EXPECT_EQ(stack.value, 42U);
    EXPECT_EQ(profile.sample_count, 42U);
    EXPECT_EQ(profile.value_type, (symbolize::ValueType{"samples", "count"}));
    ASSERT_EQ(stack.locations.size(), 2U);
    const symbolize::Location& leaf = profile.locations[stack.locations[0]];
    EXPECT_EQ(profile.functions[leaf.lines[0].function].name, "work");
}

TEST(ReadFolded, KnowsKernelAndInlinedFrames) {
    const symbolize::NamedProfile profile = read("app;main;f;inlined_[i];vfs_read_[k] 1\n");
    const symbolize::NamedStack& stack = profile.stacks.at(0);
    ASSERT_EQ(stack.locations.size(), 3U);
    const symbolize::Location& kernel = profile.locations[stack.locations[0]];
    EXPECT_TRUE(kernel.is_kernel);
    EXPECT_EQ(profile.functions[kernel.lines.at(0).function].name, "vfs_read");
    const symbolize::Location& both = profile.locations[stack.locations[1]];
    ASSERT_EQ(both.lines.size(), 2U);
    EXPECT_EQ(profile.functions[both.lines[0].function].name, "inlined");
    EXPECT_EQ(profile.functions[both.lines[1].function].name, "f");
}

// Names hold blanks: operator new(unsigned long), "Web Content".
TEST(ReadFolded, TakesTheLastWordForTheCount) {
    const symbolize::NamedProfile profile =
        read("Web Content;operator new(unsigned long) 3\r\nWeb Content 4");
    ASSERT_EQ(profile.stacks.size(), 2U);
    EXPECT_EQ(profile.stacks[0].labels.comm, "Web Content");
    EXPECT_EQ(profile.functions.at(0).name, "operator new(unsigned long)");
    EXPECT_TRUE(profile.stacks[1].locations.empty());
}

TEST(ReadFolded, AddsUpEqualStacksAndPassesOverCommentsAndEmptyLines) {
    const symbolize::NamedProfile profile = read("# by hand\na;f 1\n\na;f 2\nb;f 4\n");
    ASSERT_EQ(profile.stacks.size(), 2U);
    EXPECT_EQ(profile.stacks[0].count, 3U);
    EXPECT_EQ(profile.sample_count, 7U);
    EXPECT_EQ(profile.functions.size(), 1U);
}

TEST(ReadFolded, GivesBackWhatWasWritten) {
    const std::string text = "a;main;f 7\na;main;g;vfs_read_[k] 2\nidle 1\n";
    EXPECT_EQ(encode_folded(read(text)), text);
}

TEST(ReadFolded, SaysWhichLineItDoesNotUnderstand) {
    for (const char* bad :
         {"no count", "a;f 1.5", "a;f -1", "a;f", "a;f 18446744073709551616", "7"}) {
        const std::string message = error_of("a;f 1\n" + std::string(bad) + "\na;f 2\n");
        EXPECT_THAT(message, StartsWith("line 2: expected a folded stack")) << bad;
        EXPECT_THAT(message, HasSubstr(bad));
    }
}

TEST(ReadFolded, ReadsNothingFromNothing) { EXPECT_TRUE(read("").stacks.empty()); }

}  // namespace
}  // namespace bobbin::profile
