// SPDX-License-Identifier: Apache-2.0
#include "profile/read_speedscope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profile/pprof.h"

namespace bobbin::profile {
namespace {

using testing::HasSubstr;

// In the format's own words: one profile, its members after its name.
std::string file_with(const std::string& profile) {
    return R"({"$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "main", "file": "main.c", "line": 7}, {"name": "f"}]},
        "profiles": [{"name": "app", )" +
           profile + "}]}";
}

symbolize::NamedProfile read(const std::string& text) {
    auto profile = read_speedscope(text);
    EXPECT_TRUE(profile) << profile.error().message();
    return profile ? std::move(*profile) : symbolize::NamedProfile{};
}

std::string error_of(const std::string& text) {
    const auto profile = read_speedscope(text);
    return profile ? "none" : profile.error().message();
}

TEST(ReadSpeedscope, ReadsSampledProfiles) {
    const symbolize::NamedProfile profile =
        read(file_with(R"("type": "sampled", "unit": "milliseconds", "startValue": 0, "endValue": 6,
                     "samples": [[0, 1], [0], [0, 1]], "weights": [1.5, 2, 2.5])"));
    EXPECT_EQ(profile.value_type, (symbolize::ValueType{"cpu", "nanoseconds"}));
    ASSERT_EQ(profile.stacks.size(), 2U);
    EXPECT_EQ(profile.stacks[0].value, 4'000'000U);
    EXPECT_EQ(profile.stacks[0].count, 2U);
    EXPECT_EQ(profile.functions.at(0).file, "main.c");
    EXPECT_EQ(encode_folded(profile), "app;main 1\napp;main;f 2\n");
}

// 0 main( 2 f( 5 )f 6 )main: main alone from 0 to 2 and from 5 to 6, f for 3.
TEST(ReadSpeedscope, ReadsEventedProfiles) {
    const symbolize::NamedProfile profile =
        read(file_with(R"("type": "evented", "unit": "none", "startValue": 0, "endValue": 6,
            "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "O", "frame": 1, "at": 2},
                       {"type": "C", "frame": 1, "at": 5}, {"type": "C", "frame": 0, "at": 6}])"));
    EXPECT_EQ(profile.value_type, profile.count_type);
    EXPECT_EQ(encode_folded(profile), "app;main 3\napp;main;f 3\n");
}

TEST(ReadSpeedscope, RefusesWhatRefersToNothing) {
    const std::string head =
        R"("type": "sampled", "unit": "none", "startValue": 0, "endValue": 1,)";
    EXPECT_THAT(error_of(file_with(head + R"("samples": [[2]], "weights": [1])")),
                HasSubstr("there is no frame 2"));
    EXPECT_THAT(error_of(file_with(head + R"("samples": [[-1]], "weights": [1])")),
                HasSubstr("there is no frame -1"));
    EXPECT_THAT(error_of(file_with(head + R"("samples": [[0]], "weights": [])")),
                HasSubstr("not one weight for each sample"));
    EXPECT_THAT(error_of(file_with(head + R"("samples": [0], "weights": [1])")),
                HasSubstr("is no list"));
    EXPECT_THAT(error_of(file_with(R"("type": "evented", "unit": "none",
                    "events": [{"type": "C", "frame": 0, "at": 1}])")),
                HasSubstr("closes a frame"));
    EXPECT_THAT(error_of(file_with(R"("type": "x")")), HasSubstr("neither sampled nor evented"));
}

TEST(ReadSpeedscope, RefusesOtherJson) {
    EXPECT_THAT(error_of("{"), HasSubstr("not well-formed"));
    EXPECT_THAT(error_of("{}"), HasSubstr("not speedscope's"));
    EXPECT_THAT(error_of("[]"), HasSubstr("not speedscope's"));
    EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("not well-formed"));
}

TEST(ReadSpeedscope, BoundsWhatEventsLeaveOpen) {
    std::string events;
    for (int i = 0; i < 5000; ++i) {
        events += R"({"type": "O", "frame": 0, "at": )" + std::to_string(i) + "},";
    }
    events.back() = ' ';
    EXPECT_THAT(
        error_of(file_with(R"("type": "evented", "unit": "none", "events": [)" + events + "]")),
        HasSubstr("open frames"));
}

}  // namespace
}  // namespace bobbin::profile
