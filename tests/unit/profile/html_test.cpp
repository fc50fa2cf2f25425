// SPDX-License-Identifier: Apache-2.0
#include "profile/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace bobbin::profile {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

struct Place {
    std::string name;
    std::uint32_t line = 0;
};

class ViewOfAProfile : public testing::Test {
public:
    void TestBody() override {}

    // One location of inlined functions, innermost first, and what they are inlined into.
    std::uint32_t location(const std::vector<Place>& places, bool is_kernel = false) {
        symbolize::Location location;
        location.is_named = true;
        location.is_kernel = is_kernel;
        for (const Place& place : places) {
            location.lines.push_back(
                {static_cast<std::uint32_t>(profile_.functions.size()), place.line});
            profile_.functions.push_back({place.name, place.name, place.name + ".c"});
        }
        profile_.locations.push_back(std::move(location));
        return static_cast<std::uint32_t>(profile_.locations.size() - 1);
    }
    void add(std::vector<std::uint32_t> locations, std::uint64_t count, std::uint32_t cpu = 0) {
        symbolize::NamedStack stack;
        stack.locations = std::move(locations);
        stack.count = count;
        stack.value = count * 10'000'000;
        stack.labels.comm = "app";
        stack.labels.pid = 7;
        stack.labels.cpu = cpu;
        profile_.stacks.push_back(std::move(stack));
    }

    // "app main leaf 3", as the page reads it: from a node up to the root.
    static std::vector<std::string> stacks_of(const json& view, std::size_t side = 0) {
        std::vector<std::string> lines;
        const json& samples = view["sides"][side]["samples"];
        std::size_t last = 0;
        for (std::size_t i = 0; i < samples.size(); i += 3) {
            std::string line = std::to_string(samples[i + 2].get<std::uint64_t>());
            last += samples[i].get<std::size_t>();
            for (std::size_t node = last;;) {
                const auto frame = view["nodes"][2 * node + 1].get<std::size_t>();
                const auto name = view["frames"][5 * frame].get<std::size_t>();
                line.insert(0, view["strings"][name].get<std::string>() + " ");
                const auto distance = view["nodes"][2 * node].get<std::size_t>();
                if (distance == 0) break;
                node -= distance;
            }
            lines.push_back(line);
        }
        return lines;
    }
    std::vector<std::string> stacks() const {
        return stacks_of(json::parse(encode_view_json(profile_)));
    }

    // [line, flags] of the frames of that name.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> frames_of(const std::string& name) const {
        const json view = json::parse(encode_view_json(profile_));
        std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
        for (std::size_t i = 0; i < view["frames"].size(); i += 5) {
            if (view["strings"][view["frames"][i].get<std::size_t>()] != name) continue;
            found.emplace_back(view["frames"][i + 3], view["frames"][i + 4]);
        }
        return found;
    }

    symbolize::NamedProfile profile_;
};

TEST_F(ViewOfAProfile, HasItsStacksFromTheProcessToTheLeaf) {
    const auto leaf = location({{"leaf"}});
    const auto other = location({{"inner"}, {"outer"}});
    const auto main = location({{"main"}});
    add({leaf, main}, 3);
    add({other, main}, 4);
    add({main}, 5);
    EXPECT_THAT(stacks(),
                UnorderedElementsAre("app main leaf 3", "app main outer inner 4", "app main 5"));
}

TEST_F(ViewOfAProfile, HasAFunctionOnceWithItsHottestLine) {
    const auto cold = location({{"work", 10}});
    const auto hot = location({{"work", 20}});
    const auto unknown = location({{"work", 0}});
    add({cold}, 3);
    add({hot}, 4);
    add({unknown}, 100);
    EXPECT_THAT(frames_of("work"), ElementsAre(std::pair(20U, 0U)));
}

TEST_F(ViewOfAProfile, TellsKernelInlinedAndUnnamedFramesApart) {
    add({location({{"in_kernel"}}, true), location({{"inlined"}, {"function"}})}, 1);
    const auto unnamed = location({{"file+0x12"}});
    profile_.locations[unnamed].is_named = false;
    add({unnamed}, 1);
    EXPECT_THAT(frames_of("in_kernel"), ElementsAre(std::pair(0U, 1U)));
    EXPECT_THAT(frames_of("inlined"), ElementsAre(std::pair(0U, 2U)));
    EXPECT_THAT(frames_of("function"), ElementsAre(std::pair(0U, 0U)));
    EXPECT_THAT(frames_of("file+0x12"), ElementsAre(std::pair(0U, 4U)));
    EXPECT_THAT(frames_of("app"), ElementsAre(std::pair(0U, 8U)));
}

TEST_F(ViewOfAProfile, SaysWhoseASampleIs) {
    add({location({{"f"}})}, 1, 3);
    const json view = json::parse(encode_view_json(profile_));
    ASSERT_EQ(view["owners"].size(), 4U);
    EXPECT_EQ(view["strings"][view["owners"][0].get<std::size_t>()], "app (7)");
    EXPECT_EQ(view["strings"][view["owners"][3].get<std::size_t>()], "3");
}

TEST_F(ViewOfAProfile, HasStacksOfOneOwnerOnce) {
    const auto leaf = location({{"leaf"}});
    add({leaf}, 3);
    add({leaf}, 4);
    add({leaf}, 5, 1);
    EXPECT_THAT(stacks(), UnorderedElementsAre("app leaf 7", "app leaf 5"));
}

// Spans 2 and 5 with one sample, then 5 again with one and 9 with three: 2 * 2, 2 * (5 - 2) + 1 and
// the count of 2, 2 * (9 - 5) + 1 and the count of 3.
TEST_F(ViewOfAProfile, SaysWhenSamplesCame) {
    const auto leaf = location({{"leaf"}});
    add({leaf}, 2);
    profile_.stacks.back().times = {{2, 1}, {5, 1}};
    add({leaf}, 4);
    profile_.stacks.back().times = {{5, 1}, {9, 3}};
    profile_.time_bucket = std::chrono::milliseconds(100);
    const json side = json::parse(encode_view_json(profile_))["sides"][0];
    EXPECT_EQ(side["bucket_ns"], 100'000'000);
    EXPECT_THAT(side["times"].get<std::vector<std::uint64_t>>(), ElementsAre(3, 4, 7, 2, 9, 3));
    profile_.time_bucket = {};
    EXPECT_TRUE(json::parse(encode_view_json(profile_))["sides"][0]["times"].empty());
}

TEST_F(ViewOfAProfile, ComparesTwoBuildsOfOneProgram) {
    ViewOfAProfile base;
    base.profile_.mappings.resize(1);
    base.profile_.mappings[0].file = "/old/app-1.2";
    base.add({base.location({{"leaf", 10}}), base.location({{"main"}})}, 3);
    profile_.mappings.resize(1);
    profile_.mappings[0].file = "/new/app-1.3";
    add({location({{"leaf", 12}}), location({{"main"}})}, 4);
    add({location({{"added"}})}, 1);
    profile_.stacks[1].labels.pid = 8;
    const json view = json::parse(encode_view_json(profile_, &base.profile_));
    EXPECT_THAT(stacks_of(view, 0), UnorderedElementsAre("app main leaf 4", "app added 1"));
    EXPECT_THAT(stacks_of(view, 1), UnorderedElementsAre("app main leaf 3"));
    EXPECT_EQ(view["frames"].size(), 4 * 5U);  // app main leaf added
    EXPECT_EQ(view["owners"].size(), 4U);      // pids of two recordings mean nothing
}

// A chain of 200,001 places that one of 1,000,001 samples goes through, 0.0001 %.
TEST_F(ViewOfAProfile, FoldsWhatIsSmallWhenThereAreTooManyPlaces) {
    const auto main = location({{"main"}});
    const auto deep = location({{"leaf"}, {"deep"}});
    profile_.locations[deep].lines.resize(200'001, profile_.locations[deep].lines[1]);
    add({main}, 1'000'000);
    add({deep, main}, 1);
    const json view = json::parse(encode_view_json(profile_));
    EXPECT_EQ(view["folded"], 200'001);
    // What a function takes itself stays its own.
    EXPECT_THAT(stacks_of(view),
                UnorderedElementsAre("app main 1000000", "app main (200001 small frames) leaf 1"));
}

TEST_F(ViewOfAProfile, FoldsNothingWhereItCanBeShown) {
    const auto main = location({{"main"}});
    add({location({{"rare"}}), main}, 1);
    add({main}, 1'000'000);
    EXPECT_THAT(stacks(), UnorderedElementsAre("app main rare 1", "app main 1000000"));
    EXPECT_EQ(json::parse(encode_view_json(profile_))["folded"], 0);
}

TEST_F(ViewOfAProfile, TakesAnyBytesForAName) {
    add({location({{"bad\xff</script>"}})}, 1);
    profile_.comments = {"also \xfe"};
    const json view = json::parse(encode_view_json(profile_));
    EXPECT_THAT(view["strings"].dump(), HasSubstr("bad\xef\xbf\xbd</script>"));
    const auto page = encode_html(profile_);
    ASSERT_TRUE(page) << page.error().message();
    EXPECT_THAT(*page,
                Not(HasSubstr("bad\xef\xbf\xbd")));  // it is packed: no name can end the page
}

TEST_F(ViewOfAProfile, OfNothingIsAPageToo) {
    EXPECT_THAT(stacks(), testing::IsEmpty());
    EXPECT_TRUE(encode_html(profile_));
}

TEST_F(ViewOfAProfile, LoadsNothingAndIsComplete) {
    using namespace std::chrono;
    profile_.started = sys_days{2026y / 3 / 4} + 5h + 6min + 7s;
    add({location({{"f"}})}, 1);
    const auto page = encode_html(profile_);
    ASSERT_TRUE(page) << page.error().message();
    EXPECT_THAT(*page, StartsWith("<!doctype html>"));
    EXPECT_THAT(*page, HasSubstr("default-src 'none'"));
    EXPECT_THAT(*page, HasSubstr("CPU profile of 2026-03-04 05:06:07 UTC"));
    EXPECT_THAT(*page, Not(HasSubstr("://")));
    EXPECT_THAT(*page, Not(HasSubstr(" src=")));
    EXPECT_FALSE(std::regex_search(*page, std::regex("@[A-Z]+@")));
}

// RFC 4648 section 10.
TEST(EncodeBase64, WritesTheExamplesOfItsStandard) {
    EXPECT_EQ(encode_base64(""), "");
    EXPECT_EQ(encode_base64("f"), "Zg==");
    EXPECT_EQ(encode_base64("fo"), "Zm8=");
    EXPECT_EQ(encode_base64("foo"), "Zm9v");
    EXPECT_EQ(encode_base64("foob"), "Zm9vYg==");
    EXPECT_EQ(encode_base64("fooba"), "Zm9vYmE=");
    EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(encode_base64("\xfb\xff"), "+/8=");
}

}  // namespace
}  // namespace bobbin::profile
