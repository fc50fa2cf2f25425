// SPDX-License-Identifier: Apache-2.0
#include "profile/firefox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "golden/firefox_checker.h"
#include "golden/pprof_example.h"

namespace bobbin {
namespace {

using nlohmann::json;
using test::check_firefox;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

json written(const symbolize::NamedProfile& profile) {
    const std::string text = profile::encode_firefox(profile);
    EXPECT_THAT(check_firefox(text), IsEmpty()) << text;
    return json::parse(text);
}

// "100 ms, 3: main run parse(int)": a sample's time, its weight, its functions root first.
std::vector<std::string> samples_of(const json& thread) {
    std::vector<std::string> lines;
    const json& samples = thread["samples"];
    for (std::size_t i = 0; i < samples["stack"].size(); ++i) {
        std::string names;
        for (json stack = samples["stack"][i]; !stack.is_null();) {
            const auto index = stack.get<std::size_t>();
            const auto frame = thread["stackTable"]["frame"][index].get<std::size_t>();
            const auto function = thread["frameTable"]["func"][frame].get<std::size_t>();
            const auto name = thread["funcTable"]["name"][function].get<std::size_t>();
            names.insert(0, " " + thread["stringArray"][name].get<std::string>());
            stack = thread["stackTable"]["prefix"][index];
        }
        lines.push_back(std::to_string(std::lround(samples["time"][i].get<double>())) + " ms, " +
                        samples["weight"][i].dump() + ":" + names);
    }
    return lines;
}

symbolize::NamedProfile with_times() {
    symbolize::NamedProfile profile = test::example_profile();
    profile.time_bucket = std::chrono::milliseconds(100);
    profile.stacks[0].times = {{0, 1}, {3, 2}};
    profile.stacks[1].times = {{1, 5}};
    profile.stacks[2].times = {{2, 2}};
    return profile;
}

TEST(Firefox, HasTheSamplesOfEachThreadAtTheirTimes) {
    const json file = written(with_times());
    ASSERT_EQ(file["threads"].size(), 3U);
    EXPECT_EQ(file["threads"][0]["name"], "app");
    EXPECT_EQ(file["threads"][0]["pid"], "10");
    EXPECT_EQ(file["threads"][0]["isMainThread"], true);
    EXPECT_EQ(file["threads"][1]["name"], "reader");
    EXPECT_EQ(file["threads"][1]["tid"], 11);
    EXPECT_EQ(file["threads"][1]["isMainThread"], false);
    EXPECT_THAT(samples_of(file["threads"][0]), ElementsAre("200 ms, 5: main run parse(int)"));
    EXPECT_THAT(samples_of(file["threads"][1]),
                ElementsAre("100 ms, 1: main run parse(int) vfs_read",
                            "400 ms, 2: main run parse(int) vfs_read"));
    // 10 ms of CPU a sample.
    EXPECT_EQ(file["threads"][1]["samples"]["threadCPUDelta"], json({10'000'000, 20'000'000}));
    // 2026-03-04 05:06:00 UTC
    EXPECT_EQ(file["meta"]["startTime"], 1772600760000.0);
    EXPECT_EQ(file["meta"]["interval"], 10.0);
    EXPECT_THAT(file["meta"]["extra"].dump(), Not(HasSubstr("is not known")));
}

TEST(Firefox, LaysSamplesBehindEachOtherWithoutTimesAndSaysSo) {
    symbolize::NamedProfile profile = test::example_profile();
    for (symbolize::NamedStack& stack : profile.stacks) stack.labels = {.pid = 1, .tid = 1};
    const json file = written(profile);
    EXPECT_THAT(samples_of(file["threads"][0]),
                ElementsAre("30 ms, 3: main run parse(int) vfs_read",
                            "80 ms, 5: main run parse(int)", "100 ms, 2: main libx.so+0x2345"));
    EXPECT_THAT(file["meta"]["extra"].dump(), HasSubstr("is not known"));
    EXPECT_THAT(file["meta"]["extra"].dump(), HasSubstr("10 samples, 0 lost"));
}

TEST(Firefox, HasInlinedFunctionsAsFramesOfOneAddress) {
    const json file = written(with_times());
    const json& frames = file["threads"][0]["frameTable"];
    // main; run at 0x402345 and parse inlined into it.
    EXPECT_EQ(frames["address"], json({0x403456, 0x402345, 0x402345}));
    EXPECT_EQ(frames["inlineDepth"], json({0, 0, 1}));
    EXPECT_EQ(frames["line"], json({40, 21, 7}));
}

TEST(Firefox, TellsTheKernelFromPrograms) {
    const json file = written(with_times());
    const json& frames = file["threads"][1]["frameTable"];
    std::vector<std::string> categories;
    for (const json& category : frames["category"])
        categories.push_back(file["meta"]["categories"][category.get<std::size_t>()]["name"]);
    EXPECT_THAT(categories, ElementsAre("User", "User", "User", "Kernel"));
    EXPECT_EQ(frames["address"][3], 0x123);  // from the kernel's first address
    EXPECT_EQ(file["libs"][1]["codeId"], "0123abcd");
    EXPECT_THAT(file["libs"][1]["breakpadId"].get<std::string>(),
                testing::StartsWith("CDAB2301"));  // a GUID's first field is little-endian
}

TEST(Firefox, WeighsBytesAsBytes) {
    symbolize::NamedProfile profile = test::example_profile();
    profile.value_type = {"inuse_space", "bytes"};
    const json file = written(profile);
    EXPECT_EQ(file["threads"][0]["samples"]["weightType"], "bytes");
    EXPECT_EQ(file["threads"][0]["samples"]["weight"], json({50'000'000}));
    EXPECT_FALSE(file["threads"][0]["samples"].contains("threadCPUDelta"));
}

TEST(Firefox, TakesAnyBytesAndNothing) {
    symbolize::NamedProfile profile = test::example_profile();
    profile.functions[0].name = "bad\xff";
    profile.mappings[0].file = "\xff";
    profile.mappings[1].build_id.clear();
    profile.stacks[0].labels.comm = "\xc3";
    profile.stacks[1].locations.clear();
    written(profile);
    written({});
}

// Of a checker that finds nothing the tests above would say nothing.
TEST(FirefoxChecker, FindsWhatIsWrong) {
    const json good = written(with_times());
    const auto broken = [&](const char* pointer, json value) {
        json file = good;
        file[json::json_pointer(pointer)] = std::move(value);
        return check_firefox(file.dump());
    };
    EXPECT_THAT(broken("/threads/0/stackTable/prefix/0", 1), Not(IsEmpty()));
    EXPECT_THAT(broken("/threads/0/samples/stack/0", 3), Not(IsEmpty()));
    EXPECT_THAT(broken("/threads/1/samples/time/1", 99), Not(IsEmpty()));
    EXPECT_THAT(broken("/threads/0/frameTable/func/0", 9), Not(IsEmpty()));
    EXPECT_THAT(broken("/threads/0/frameTable/line", json::array()), Not(IsEmpty()));
    EXPECT_THAT(broken("/threads/0/stackTable/category", json::array()), Not(IsEmpty()));
    EXPECT_THAT(broken("/threads/0/pid", 10), Not(IsEmpty()));
    EXPECT_THAT(broken("/threads/1/tid", 10), Not(IsEmpty()));
    EXPECT_THAT(broken("/meta/categories/0/color", "blue"), Not(IsEmpty()));
    EXPECT_THAT(broken("/libs/0/breakpadId", "12"), Not(IsEmpty()));
}

}  // namespace
}  // namespace bobbin
