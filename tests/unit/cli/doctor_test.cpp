// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bobbin::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t bit(unsigned capability) { return std::uint64_t{1} << capability; }

SystemFacts good_facts() {
    SystemFacts facts;
    facts.effective_capabilities =
        bit(CAP_SYS_ADMIN) | bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_SYSLOG);
    facts.kernel_release = "6.1.0-56-amd64";
    facts.lockdown = "none";
    facts.has_btf = true;
    facts.has_kallsyms = true;
    facts.has_tracefs = true;
    facts.online_cpu_count = 4;
    facts.perf_event_paranoid = 3;
    facts.perf_event_max_sample_rate_hz = 100'000;
    facts.bpf_jit_enable = 1;
    facts.kptr_restrict = 1;
    return facts;
}

KernelFeatures good_features() {
    return {Support::kYes, Support::kYes, Support::kYes, Support::kYes, 0};
}

Check check_named(const std::vector<Check>& checks, const std::string& name) {
    const auto found = std::ranges::find(checks, name, &Check::name);
    if (found != checks.end()) return *found;
    ADD_FAILURE() << "no check is called " << name;
    return {};
}

TEST(Examine, FindsNothingWrongOnAGoodMachine) {
    const std::vector<Check> checks = examine(good_facts(), good_features());
    for (const Check& check : checks) EXPECT_TRUE(check.ok) << check.name << ": " << check.found;
    EXPECT_EQ(exit_status_of(checks), 0);
}

// One thing wrong at a time: which line says so, and the exit status.
TEST(Examine, NamesEachThingThatIsMissing) {
    struct Case {
        const char* check;
        int exit_status;
        void (*spoil)(SystemFacts&, KernelFeatures&);
    };
    const Case cases[] = {
        {"kernel", 1, [](SystemFacts& f, KernelFeatures&) { f.kernel_release = "5.4.0"; }},
        {"kernel type information", 1, [](SystemFacts& f, KernelFeatures&) { f.has_btf = false; }},
        {"kernel lockdown", 1,
         [](SystemFacts& f, KernelFeatures&) { f.lockdown = "confidentiality"; }},
        {"sample rate", 1,
         [](SystemFacts& f, KernelFeatures&) { f.perf_event_max_sample_rate_hz = 50; }},
        {"BPF perf_event programs", 1,
         [](SystemFacts&, KernelFeatures& k) { k.perf_event_programs = Support::kNo; }},
        {"BPF ring buffer", 1,
         [](SystemFacts&, KernelFeatures& k) { k.ring_buffers = Support::kNo; }},
        {"BPF maps of maps", 1,
         [](SystemFacts&, KernelFeatures& k) { k.maps_of_maps = Support::kNo; }},
        {"cpu-clock event", 1, [](SystemFacts&, KernelFeatures& k) { k.cpu_clock_errno = ENOENT; }},
        {"cpu-clock event", 77,
         [](SystemFacts&, KernelFeatures& k) { k.cpu_clock_errno = EACCES; }},
        {"rights", 77, [](SystemFacts& f, KernelFeatures&) { f.in_user_namespace = true; }},
        {"perf events of other processes", 77,
         [](SystemFacts& f, KernelFeatures&) {
             f.effective_capabilities = bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_SYSLOG);
         }},
        {"BPF ring buffer", 77,
         [](SystemFacts&, KernelFeatures& k) { k.ring_buffers = Support::kNotAllowed; }},
        {"bpf_loop", 0, [](SystemFacts&, KernelFeatures& k) { k.bpf_loop = Support::kNo; }},
        {"opening before other work", 0,
         [](SystemFacts&, KernelFeatures& k) { k.run_first_errno = EPERM; }},
        {"files of short-lived programs", 0,
         [](SystemFacts&, KernelFeatures& k) { k.exec_events_errno = EPERM; }},
        {"reading names without rights", 0,
         [](SystemFacts&, KernelFeatures& k) { k.seccomp_errno = EINVAL; }},
        {"BPF JIT", 0, [](SystemFacts& f, KernelFeatures&) { f.bpf_jit_enable = 0; }},
        {"names of kernel functions", 0,
         [](SystemFacts& f, KernelFeatures&) { f.kptr_restrict = 2; }},
        {"names of kernel functions", 0,
         [](SystemFacts& f, KernelFeatures&) { f.has_kallsyms = false; }},
    };
    for (const Case& c : cases) {
        SystemFacts facts = good_facts();
        KernelFeatures features = good_features();
        c.spoil(facts, features);
        const std::vector<Check> checks = examine(facts, features);
        const Check check = check_named(checks, c.check);
        EXPECT_FALSE(check.ok) << c.check;
        EXPECT_FALSE(check.fix.empty()) << c.check;
        EXPECT_EQ(exit_status_of(checks), c.exit_status) << c.check;
    }
}

// What more rights would not cure comes first.
TEST(Examine, GivesStatus1WhenBothRightsAndTheKernelFail) {
    SystemFacts facts = good_facts();
    facts.in_user_namespace = true;
    facts.has_btf = false;
    EXPECT_EQ(exit_status_of(examine(facts, good_features())), 1);
}

TEST(Examine, CountsLockedMemoryOnlyBefore511) {
    SystemFacts facts = good_facts();
    facts.locked_memory_limit_bytes = 65536;
    EXPECT_TRUE(check_named(examine(facts, good_features()), "locked memory").ok);
    facts.kernel_release = "5.10.0-46-amd64";
    EXPECT_FALSE(check_named(examine(facts, good_features()), "locked memory").ok);
    facts.locked_memory_limit_bytes = std::nullopt;
    EXPECT_TRUE(check_named(examine(facts, good_features()), "locked memory").ok);
}

TEST(Examine, ExplainsDebiansParanoidLevel) {
    SystemFacts facts = good_facts();
    facts.effective_capabilities = bit(CAP_BPF) | bit(CAP_PERFMON);
    const Check check =
        check_named(examine(facts, good_features()), "perf events of other processes");
    EXPECT_THAT(check.found, HasSubstr("CAP_PERFMON is not enough"));
    EXPECT_EQ(check.fix, "sudo sysctl kernel.perf_event_paranoid=2");
}

const std::vector<Check> kTwoChecks{
    {"kernel", true, Check::Need::kRequired, "6.1", "unused"},
    {"bpf_loop", false, Check::Need::kUseful, "this kernel has it not", "Linux 5.17"}};

TEST(DescribeChecks, GivesOneLineAFactAndTheFix) {
    EXPECT_EQ(describe(kTwoChecks, {.utf8 = true}),
              "✓ kernel    6.1\n"
              "✗ bpf_loop  this kernel has it not\n"
              "    (optional) Linux 5.17\n"
              "bobbin record works here\n");
}

TEST(DescribeChecks, DoesWithoutUtf8) {
    EXPECT_EQ(describe(kTwoChecks, {}),
              "ok  kernel    6.1\n"
              "no  bpf_loop  this kernel has it not\n"
              "      (optional) Linux 5.17\n"
              "bobbin record works here\n");
}

TEST(DescribeChecks, ColoursOnlyWhenAsked) {
    EXPECT_THAT(describe(kTwoChecks, {.utf8 = true, .colours = true}),
                HasSubstr("\x1b[31m✗ \x1b[0mbpf_loop"));
    EXPECT_THAT(describe(kTwoChecks, {.utf8 = true}), Not(HasSubstr("\x1b")));
}

TEST(DescribeChecks, SaysWhenRecordDoesNotWork) {
    const std::vector<Check> checks{{"rights", false, Check::Need::kRights, "none", "sudo"}};
    EXPECT_THAT(describe(checks, {}), HasSubstr("does not work here yet\n"));
}

TEST(DoctorJson, HoldsEveryCheck) {
    const auto report = nlohmann::json::parse(to_json(kTwoChecks));
    EXPECT_EQ(report.at("record_works"), true);
    ASSERT_EQ(report.at("checks").size(), 2U);
    EXPECT_EQ(report["checks"][0].at("name"), "kernel");
    EXPECT_EQ(report["checks"][0].at("ok"), true);
    EXPECT_FALSE(report["checks"][0].contains("fix"));
    EXPECT_EQ(report["checks"][1].at("need"), "useful");
    EXPECT_EQ(report["checks"][1].at("fix"), "Linux 5.17");
}

TEST(RunDoctor, AgreesWithTheRightsOfThisProcess) {
    testing::internal::CaptureStdout();
    const int exit_status = run_doctor({.json = true});
    const auto report = nlohmann::json::parse(testing::internal::GetCapturedStdout());
    EXPECT_EQ(report.at("record_works").get<bool>(), exit_status == 0);
    if (!read_system_facts().may_record()) {
        EXPECT_NE(exit_status, 0);
    }
}

}  // namespace
}  // namespace bobbin::cli
