// SPDX-License-Identifier: Apache-2.0
#include "sampler/cgroup_labels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bobbin::sampler {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kOtherId = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
const std::string kShownId = "0123456789ab";
const std::string kPod = "0f6d1f0e-4ce5-4d0c-8d3f-0c4c8e2f1a11";
const std::string kPodInSlice = "0f6d1f0e_4ce5_4d0c_8d3f_0c4c8e2f1a11";

struct Case {
    std::string path;
    std::string container;
    std::string unit;
};

void expect(const std::vector<Case>& cases) {
    for (const Case& expected : cases) {
        const ProcessLabels labels = describe_cgroup(expected.path);
        EXPECT_EQ(labels.cgroup, expected.path);
        EXPECT_EQ(labels.container, expected.container) << expected.path;
        EXPECT_EQ(labels.unit, expected.unit) << expected.path;
    }
}

TEST(DescribeCgroup, NamesTheInnermostUnit) {
    expect({{"/system.slice/nginx.service", "", "nginx.service"},
            {"/user.slice/user-1000.slice/session-2.scope", "", "session-2.scope"},
            {"/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-foo-42.scope", "",
             "app-gnome-foo-42.scope"},
            {"/user.slice/user-1000.slice/user@1000.service/init.scope", "", "init.scope"},
            {"/system.slice/postgresql.service/backend", "", "postgresql.service"},
            {"/init.scope", "", "init.scope"},
            {"/system.slice", "", ""},
            {"/", "", ""}});
}

TEST(DescribeCgroup, NamesContainersOfDockerByTheirId) {
    const std::string scope = "docker-" + kId + ".scope";
    expect({{"/system.slice/" + scope, kShownId, scope},
            {"/docker/" + kId, kShownId, ""},
            {"/build/" + kId, kShownId, ""},  // --cgroup-parent
            {"/system.slice/" + scope + "/docker/" + kOtherId, "fedcba987654", scope},
            {"/system.slice/docker.service", "", "docker.service"}});
}

TEST(DescribeCgroup, NamesContainersOfPodmanByTheirId) {
    const std::string scope = "libpod-" + kId + ".scope";
    expect({{"/machine.slice/" + scope, kShownId, scope},
            {"/machine.slice/" + scope + "/container", kShownId, scope},
            {"/machine.slice/machine-libpod_pod_" + kOtherId + ".slice/" + scope, kShownId, scope},
            {"/user.slice/user-1000.slice/user@1000.service/user.slice/" + scope, kShownId, scope},
            {"/libpod_parent/libpod-" + kId, kShownId, ""}});
}

TEST(DescribeCgroup, NamesContainersOfKubernetesByTheirId) {
    const std::string besteffort =
        "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kPodInSlice +
        ".slice/";
    const std::string containerd = "cri-containerd-" + kId + ".scope";
    const std::string crio = "crio-" + kId + ".scope";
    expect({{besteffort + containerd, kShownId, containerd},
            {besteffort + crio, kShownId, crio},
            {"/kubepods.slice/kubepods-pod" + kPodInSlice + ".slice/" + containerd, kShownId,
             containerd},
            {"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/" + containerd,
             kShownId, containerd},
            {"/kubepods/burstable/pod" + kPod + "/" + kId, kShownId, ""},
            {"/kubepods/besteffort/pod" + kPod + "/crio-" + kId, kShownId, ""},
            {"/kubepods/pod" + kPod + "/" + kId, kShownId, ""},
            {"/kubepods/pod" + kPod, "", ""},
            {"/default/" + kId, kShownId, ""},
            {"/system.slice/nerdctl-" + kId + ".scope", kShownId, "nerdctl-" + kId + ".scope"}});
}

TEST(DescribeCgroup, NamesMachinesOfNspawn) {
    expect(
        {{"/machine.slice/systemd-nspawn@web.service/payload/system.slice/nginx.service", "web",
          "nginx.service"},
         {"/machine.slice/systemd-nspawn@web.service", "web", "systemd-nspawn@web.service"},
         {"/machine.slice/systemd-nspawn@web.service/supervisor", "", "systemd-nspawn@web.service"},
         {R"(/machine.slice/systemd-nspawn@my\x2dbox.service/payload)", "my-box",
          R"(systemd-nspawn@my\x2dbox.service)"},
         {"/machine.slice/machine-web.scope/init.scope", "web", "init.scope"},
         {R"(/machine.slice/machine-my\x2dbox.scope)", "my-box", R"(machine-my\x2dbox.scope)"}});
}

TEST(DescribeCgroup, NamesContainersOfLxc) {
    expect({{"/lxc.payload.web/system.slice/nginx.service", "web", "nginx.service"},
            {"/lxc.payload/web", "web", ""},
            {"/lxc/web/user.slice", "web", ""},
            {"/lxc.monitor.web", "", ""},
            {"/lxc.payload", "", ""},
            {"/user.slice/user-1000.slice/session-1.scope/lxc.payload.web", "web",
             "session-1.scope"}});
}

TEST(DescribeCgroup, CountsNobodyInWhoWatchesFromOutside) {
    expect(
        {{"/machine.slice/libpod-conmon-" + kId + ".scope", "", "libpod-conmon-" + kId + ".scope"},
         {"/kubepods.slice/crio-conmon-" + kId + ".scope", "", "crio-conmon-" + kId + ".scope"}});
}

TEST(DescribeCgroup, TakesOnly64HexDigitsForAnId) {
    for (const std::string& name : {kId + "0", kId.substr(1), "g" + kId.substr(1),
                                    fmt::format("docker-{}-x", kId), "docker" + kId}) {
        EXPECT_EQ(describe_cgroup("/docker/" + name).container, "") << name;
    }
}

TEST(DescribeCgroup, SurvivesAnyEscape) {
    for (const char* const name : {R"(\)", R"(\x)", R"(\x2)", R"(\x2g)", R"(\\x2d)", ""}) {
        const std::string unit = fmt::format("machine-{}.scope", name);
        EXPECT_EQ(describe_cgroup("/a/" + unit).unit, unit);
    }
}

// cgroup_path_ns() of a cgroup that was removed, as /proc/PID/cgroup shows it.
TEST(DescribeCgroup, DropsTheKernelsRemark) {
    const ProcessLabels labels = describe_cgroup("/system.slice/run-u7.service (deleted)");
    EXPECT_EQ(labels.cgroup, "/system.slice/run-u7.service");
    EXPECT_EQ(labels.unit, "run-u7.service");
}

TEST(ContainerOf, GivesTheWholeId) {
    EXPECT_EQ(container_of("/docker/" + kId), kId);
    EXPECT_EQ(container_of("/lxc.payload.web/init.scope"), "web");
    EXPECT_EQ(container_of("/system.slice/nginx.service"), "");
}

TEST(ParseCgroup, TakesTheUnifiedHierarchysPath) {
    const auto labels = parse_cgroup("0::/system.slice/nginx.service\n");
    EXPECT_EQ(labels.cgroup, "/system.slice/nginx.service");
    EXPECT_EQ(labels.unit, "nginx.service");
}

TEST(ParseCgroup, TakesSystemdsOwnHierarchyBesideControllersOfVersion1) {
    const auto labels = parse_cgroup(
        "12:cpu,cpuacct:/elsewhere\n"
        "1:name=systemd:/user.slice/user-0.slice/session-2.scope\n"
        "0::/\n");
    EXPECT_EQ(labels.cgroup, "/user.slice/user-0.slice/session-2.scope");
    EXPECT_EQ(labels.unit, "session-2.scope");
}

// Docker on a machine without systemd.
TEST(ParseCgroup, TakesAControllersPathWhereNothingElseSaysAnything) {
    const std::string id(64, 'a');
    const auto labels = parse_cgroup("5:memory:/docker/" + id + "\n4:cpu:/\n0::/\n");
    EXPECT_EQ(labels.cgroup, "/docker/" + id);
    EXPECT_EQ(labels.container, "aaaaaaaaaaaa");
    EXPECT_EQ(parse_cgroup("4:cpu:/\n0::/\n").cgroup, "/");
}

TEST(ParseCgroup, GivesNothingOfNothing) {
    for (const char* const text : {"", "\n", "0::", "garbage", "0::/\n"}) {
        EXPECT_EQ(parse_cgroup(text).unit, "") << text;
    }
}

}  // namespace
}  // namespace bobbin::sampler
