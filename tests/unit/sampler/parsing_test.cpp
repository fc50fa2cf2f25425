// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sampler/mapping_self_test.h"
#include "sampler/perf_events.h"
#include "sampler/process_labels.h"

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

TEST(ParseProcMaps, ReadsLinesWhateverThePathHolds) {
    const auto mappings = parse_proc_maps(
        "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/with two  spaces (deleted)\n"
        "7ffd8d5c4000-7ffd8d5e5000 rw-p 00000000 00:00 0                          [stack]\n"
        "not a mapping\n");
    ASSERT_EQ(mappings.size(), 2U);
    EXPECT_EQ(mappings[0].start_vaddr, 0x400000U);
    EXPECT_EQ(mappings[0].end_vaddr, 0x452000U);
    EXPECT_EQ(mappings[0].file_offset, 0x1000U);
    EXPECT_TRUE(mappings[0].has_file);
    EXPECT_FALSE(mappings[1].has_file);
}

TEST(ParseCgroup, TakesTheUnifiedHierarchysPath) {
    const auto labels = parse_cgroup("0::/system.slice/nginx.service\n");
    EXPECT_EQ(labels.cgroup, "/system.slice/nginx.service");
    EXPECT_EQ(labels.unit, "nginx.service");
    EXPECT_EQ(labels.container, "");
}

TEST(ParseCgroup, TakesSystemdsOwnHierarchyBesideControllersOfVersion1) {
    const auto labels = parse_cgroup(
        "12:cpu,cpuacct:/elsewhere\n"
        "1:name=systemd:/user.slice/user-0.slice/session-2.scope\n"
        "0::/\n");
    EXPECT_EQ(labels.cgroup, "/user.slice/user-0.slice/session-2.scope");
    EXPECT_EQ(labels.unit, "session-2.scope");
}

TEST(ParseCgroup, FindsTheContainerAsEnginesNameIt) {
    const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    for (const std::string& path : {"/system.slice/docker-" + id + ".scope", "/docker/" + id,
                                    "/kubepods.slice/pod1.slice/cri-containerd-" + id + ".scope"}) {
        EXPECT_EQ(parse_cgroup("0::" + path + "\n").container, "0123456789ab") << path;
    }
    EXPECT_EQ(parse_cgroup("0::/docker/" + id + "0\n").container, "") << "65 digits are no id";
}

TEST(ParseCgroup, GivesNothingOfNothing) {
    for (const char* const text : {"", "\n", "0::", "garbage", "0::/\n"}) {
        EXPECT_EQ(parse_cgroup(text).unit, "") << text;
    }
}

}  // namespace
}  // namespace bobbin::sampler
