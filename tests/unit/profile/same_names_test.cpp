// SPDX-License-Identifier: Apache-2.0
#include "profile/same_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bobbin::profile {
namespace {

symbolize::NamedProfile profile_of(const std::vector<std::string>& files,
                                   const std::vector<std::string>& processes) {
    symbolize::NamedProfile profile;
    for (const std::string& file : files) {
        profile.mappings.emplace_back().file = file;
        symbolize::Location location;
        location.mapping = static_cast<std::uint32_t>(profile.mappings.size() - 1);
        location.lines = {{0, 0}};
        profile.locations.push_back(location);
    }
    profile.functions.push_back({"libz.so+0x12", "libz.so+0x12", ""});
    for (const std::string& process : processes) {
        symbolize::NamedStack& stack = profile.stacks.emplace_back();
        stack.labels.comm = process;
        stack.count = 1000;
        for (std::uint32_t i = 0; i < files.size(); ++i) stack.locations.push_back(i);
    }
    return profile;
}

TEST(SameNames, LeaveFoldersAndVersionsOut) {
    EXPECT_EQ(module_without_version("/usr/lib/libz.so.1.2.13"), "libz.so");
    EXPECT_EQ(module_without_version("/opt/app"), "app");
    EXPECT_EQ(module_without_version("[kernel]"), "[kernel]");
    EXPECT_EQ(module_without_version(""), "");
}

TEST(SameNames, PairTheOneProgramThatEachHasAlone) {
    const auto base = profile_of({"/a/app-1.2", "/lib/libc.so.6"}, {"app-1.2", "shell"});
    const auto fresh = profile_of({"/lib/libc.so.6", "/b/app-1.3"}, {"app-1.3", "shell"});
    const SameNames names(fresh, base);
    EXPECT_EQ(names.module_of(base, base.locations[0]), "app-1.3");
    EXPECT_EQ(names.module_of(fresh, fresh.locations[1]), "app-1.3");
    EXPECT_EQ(names.module_of(base, base.locations[1]), "libc.so");
    EXPECT_EQ(names.process_of(base.stacks[0].labels), "app-1.3");
    EXPECT_EQ(names.process_of(base.stacks[1].labels), "shell");
}

TEST(SameNames, PairNothingWhereThereAreSeveral) {
    const auto base = profile_of({"/a/one", "/a/two"}, {"one", "two"});
    const auto fresh = profile_of({"/a/three"}, {"three"});
    const SameNames names(fresh, base);
    EXPECT_EQ(names.module_of(base, base.locations[0]), "one");
    EXPECT_EQ(names.process_of(base.stacks[1].labels), "two");
}

// The recorder itself, before it became the program: one sample.
TEST(SameNames, PairProgramsThoughOneHasASampleOfAnother) {
    auto base = profile_of({"/a/app-1.2"}, {"app-1.2"});
    base.mappings.emplace_back().file = "/usr/bin/starter";
    base.locations.emplace_back().mapping = 1;
    symbolize::NamedStack start;
    start.labels.comm = "starter";
    start.locations = {1};
    start.count = 1;
    base.stacks.push_back(start);
    const auto fresh = profile_of({"/b/app-1.3"}, {"app-1.3"});
    const SameNames names(fresh, base);
    EXPECT_EQ(names.module_of(base, base.locations[0]), "app-1.3");
    EXPECT_EQ(names.process_of(base.stacks[0].labels), "app-1.3");
}

TEST(SameNames, TakeFramesWithoutANameForOneFunction) {
    const auto profile = profile_of({"/lib/libz.so.1"}, {});
    EXPECT_EQ(SameNames(profile, profile).function_of(profile, profile.locations[0], {0, 0}),
              "[no name in libz.so]");
}

}  // namespace
}  // namespace bobbin::profile
