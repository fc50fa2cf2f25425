// SPDX-License-Identifier: Apache-2.0
#include "profile/speedscope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "golden/pprof_example.h"
#include "golden/speedscope_checker.h"

namespace bobbin {
namespace {

using nlohmann::json;
using test::check_speedscope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

json written(const symbolize::NamedProfile& profile) {
    const std::string text = profile::encode_speedscope(profile);
    EXPECT_THAT(check_speedscope(text), IsEmpty()) << text;
    return json::parse(text);
}

// "main run 30000000": names root first, and the weight.
std::vector<std::string> samples_of(const json& file, std::size_t profile_index) {
    const json& profile = file["profiles"][profile_index];
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < profile["samples"].size(); ++i) {
        std::string line;
        for (const json& frame : profile["samples"][i]) {
            line += file["shared"]["frames"][frame.get<std::size_t>()]["name"].get<std::string>();
            line += ' ';
        }
        lines.push_back(line + profile["weights"][i].dump());
    }
    return lines;
}

// What pprof_example.h says, the thread with most time first.
TEST(Speedscope, HasAProfileOfEachThread) {
    const json file = written(test::example_profile());
    ASSERT_EQ(file["profiles"].size(), 3U);
    EXPECT_EQ(file["profiles"][0]["name"], "app (10)");
    EXPECT_EQ(file["profiles"][1]["name"], "app (10) / reader (11)");
    EXPECT_EQ(file["profiles"][2]["name"], "app (20)");
    EXPECT_THAT(samples_of(file, 0), ElementsAre("main run parse(int) 50000000"));
    EXPECT_THAT(samples_of(file, 1), ElementsAre("main run parse(int) vfs_read 30000000"));
    EXPECT_THAT(samples_of(file, 2), ElementsAre("main libx.so+0x2345 20000000"));
    EXPECT_EQ(file["profiles"][0]["unit"], "nanoseconds");
}

TEST(Speedscope, HasSourceFilesAndElseModules) {
    const json file = written(test::example_profile());
    std::vector<std::string> places;
    for (const json& frame : file["shared"]["frames"]) {
        places.push_back(frame["name"].get<std::string>() + " " + frame["file"].get<std::string>() +
                         ":" + std::to_string(frame.value("line", 0)));
    }
    EXPECT_THAT(places,
                testing::UnorderedElementsAre("vfs_read [kernel]:0", "parse(int) /src/app.cpp:7",
                                              "run /src/app.cpp:21", "main /src/main.cpp:40",
                                              "libx.so+0x2345 /nonexistent/libx.so:0"));
}

TEST(Speedscope, HasAFunctionOnceAtTheLineWithMostTime) {
    symbolize::NamedProfile profile = test::example_profile();
    symbolize::Location elsewhere = profile.locations[1];  // run, with parse inlined into it
    elsewhere.address += 16;
    elsewhere.lines[1].line = 25;
    profile.locations.push_back(elsewhere);
    profile.stacks[1].locations[0] = 4;  // 50 ms there, 30 ms at line 21
    const json file = written(profile);
    EXPECT_EQ(file["shared"]["frames"].size(), 5U);
    EXPECT_THAT(file["shared"]["frames"].dump(), HasSubstr(R"("line":25,"name":"run")"));
}

TEST(Speedscope, SaysThatTimesAreNotKnown) {
    symbolize::NamedProfile profile = test::example_profile();
    EXPECT_THAT(written(profile)["name"].get<std::string>(), HasSubstr("is not known"));
    profile.time_bucket = std::chrono::milliseconds(100);
    for (symbolize::NamedStack& stack : profile.stacks) stack.times = {{0, 1}};
    EXPECT_THAT(written(profile)["name"].get<std::string>(), Not(HasSubstr("is not known")));
}

TEST(Speedscope, HasSamplesInOrderOfTime) {
    symbolize::NamedProfile profile = test::example_profile();
    profile.time_bucket = std::chrono::milliseconds(100);
    for (symbolize::NamedStack& stack : profile.stacks) stack.labels = {.pid = 1, .tid = 1};
    profile.stacks[0].times = {{0, 1}, {3, 2}};
    profile.stacks[1].times = {{1, 5}};
    profile.stacks[2].times = {{2, 2}};
    EXPECT_THAT(
        samples_of(written(profile), 0),
        ElementsAre("main run parse(int) vfs_read 10000000", "main run parse(int) 50000000",
                    "main libx.so+0x2345 20000000", "main run parse(int) vfs_read 20000000"));
}

TEST(Speedscope, TakesAnyBytesAndNothing) {
    symbolize::NamedProfile profile = test::example_profile();
    profile.functions[0].name = "bad\xff";
    profile.stacks[0].labels.comm = "\xc3";
    written(profile);
    written({});
}

// Of a checker that finds nothing the tests above would say nothing.
TEST(SpeedscopeChecker, FindsWhatIsWrong) {
    const json good = written(test::example_profile());
    const auto broken = [&](const char* pointer, json value) {
        json file = good;
        file[json::json_pointer(pointer)] = std::move(value);
        return check_speedscope(file.dump());
    };
    EXPECT_THAT(broken("/profiles/0/weights", json::array()), Not(IsEmpty()));
    EXPECT_THAT(broken("/profiles/0/samples/0/0", 5), Not(IsEmpty()));
    EXPECT_THAT(broken("/profiles/0/endValue", 49'999'999), Not(IsEmpty()));
    EXPECT_THAT(broken("/profiles/0/unit", "ns"), Not(IsEmpty()));
    EXPECT_THAT(broken("/shared/frames/0/name", 1), Not(IsEmpty()));
    EXPECT_THAT(broken("/shared/frames/0/module", "x"), Not(IsEmpty()));
    EXPECT_THAT(broken("/$schema", "x"), Not(IsEmpty()));
    EXPECT_THAT(check_speedscope("{"), Not(IsEmpty()));
}

}  // namespace
}  // namespace bobbin
