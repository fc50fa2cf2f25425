// SPDX-License-Identifier: Apache-2.0
#include "sampler/cpu_hotplug.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace bobbin::sampler {
namespace {

TEST(ParseCpuList, ReadsRangesAndSingles) {
    EXPECT_EQ(*parse_cpu_list("0\n"), std::vector<int>{0});
    EXPECT_EQ(*parse_cpu_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
}

TEST(ParseCpuList, RefusesAnythingElse) {
    for (const char* const text : {"", "\n", "a", "0-", "-1", "1,,2", "0-99999999", "1 2"}) {
        EXPECT_FALSE(parse_cpu_list(text).has_value()) << text;
    }
}

TEST(OnlineCpus, ListsAtLeastTheOneThisRunsOn) {
    const auto cpus = online_cpus();
    ASSERT_TRUE(cpus.has_value()) << cpus.error().message();
    EXPECT_FALSE(cpus->empty());
}

using Cpus = std::vector<int>;

CpuChanges changes(const Cpus& watched, const Cpus& online, const Cpus& replugged = {}) {
    return changes_between(watched, online, replugged);
}

TEST(CpuChanges, AreNoneWhileTheListStaysTheSame) {
    const CpuChanges none = changes({0, 1, 2}, {0, 1, 2});
    EXPECT_EQ(none.to_open, Cpus{});
    EXPECT_EQ(none.to_close, Cpus{});
}

TEST(CpuChanges, OpenWhatCameAndCloseWhatWent) {
    const CpuChanges changed = changes({0, 1, 3}, {0, 2, 3, 7});
    EXPECT_EQ(changed.to_open, (Cpus{2, 7}));
    EXPECT_EQ(changed.to_close, Cpus{1});
}

// Its event is still open and still in the list, but the kernel took it off the CPU's clock.
TEST(CpuChanges, OpenAnewWhatWasAwayBetweenTwoLooks) {
    const CpuChanges changed = changes({0, 1}, {0, 1}, {1});
    EXPECT_EQ(changed.to_close, Cpus{1});
    EXPECT_EQ(changed.to_open, Cpus{1});
}

TEST(CpuChanges, DoNotOpenWhatCameAndWentAgain) {
    const CpuChanges changed = changes({0, 1}, {0}, {1, 5});
    EXPECT_EQ(changed.to_close, Cpus{1});
    EXPECT_EQ(changed.to_open, Cpus{});
}

// kobject_uevent_env() of the kernel: a head, and behind its NUL the same as variables.
TEST(ParseCpuEvent, NamesTheCpuThatCameOrWent) {
    using namespace std::literals;
    EXPECT_EQ(parse_cpu_event("online@/devices/system/cpu/cpu3\0ACTION=online\0"sv), 3);
    EXPECT_EQ(parse_cpu_event("offline@/devices/system/cpu/cpu127\0SEQNUM=9\0"sv), 127);
}

TEST(ParseCpuEvent, KnowsNoOtherMessage) {
    for (const char* const message :
         {"", "@", "online", "change@/devices/system/cpu/cpu3", "online@/devices/system/cpu/cpu",
          "online@/devices/system/cpu/cpufreq", "online@/devices/system/cpu/cpu3/cache",
          "online@/devices/system/cpu/cpu99999999999", "online@/devices/system/memory/memory3",
          "libudev"}) {
        EXPECT_EQ(parse_cpu_event(message), std::nullopt) << message;
    }
}

}  // namespace
}  // namespace bobbin::sampler
