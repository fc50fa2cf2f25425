// SPDX-License-Identifier: Apache-2.0
#include "cli/system_facts.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <string>

#include "support/temporary_directory.h"

namespace bobbin::cli {
namespace {

using test::TemporaryDirectory;

constexpr std::uint64_t bit(unsigned capability) { return std::uint64_t{1} << capability; }

// A stock Debian 12 machine as its user with uid 1000 sees it.
void lay_out_debian(const TemporaryDirectory& root) {
    root.write("proc/self/status",
               "Name:\tx\nTgid:\t7\nUid:\t1000\t1001\t1000\t1000\nGid:\t5\t5\t5\t5\n"
               "CapPrm:\t0000000000000000\nCapEff:\t000000c000000000\nCapBnd:\t000001ffffffffff\n");
    root.write("proc/self/uid_map", "         0          0 4294967295\n");
    root.write("proc/self/limits",
               "Limit                     Soft Limit           Hard Limit           Units     \n"
               "Max cpu time              unlimited            unlimited            seconds   \n"
               "Max locked memory         8388608              16777216             bytes     \n");
    root.write("proc/sys/kernel/osrelease", "6.1.0-56-amd64\n");
    root.write("proc/sys/kernel/perf_event_paranoid", "3\n");
    root.write("proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
    root.write("proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
    root.write("proc/sys/kernel/kptr_restrict", "1\n");
    root.write("proc/sys/net/core/bpf_jit_enable", "1\n");
    root.write("proc/kallsyms", "0000000000000000 A fixed_percpu_data\n");
    root.write("sys/kernel/btf/vmlinux", "BTF");
    root.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    root.write("sys/kernel/tracing/events/enable", "0");
    root.write("sys/devices/system/cpu/online", "0-3,8\n");
}

TEST(ReadSystemFacts, ReadsAStockDebianMachine) {
    const TemporaryDirectory root;
    lay_out_debian(root);
    const SystemFacts facts = read_system_facts(root.path());
    EXPECT_EQ(facts.effective_uid, 1001U);
    EXPECT_EQ(facts.effective_capabilities, bit(CAP_BPF) | bit(CAP_PERFMON));
    EXPECT_FALSE(facts.in_user_namespace);
    EXPECT_FALSE(facts.in_container);
    EXPECT_EQ(facts.kernel_release, "6.1.0-56-amd64");
    EXPECT_EQ(facts.lockdown, "integrity");
    EXPECT_TRUE(facts.has_btf);
    EXPECT_TRUE(facts.has_kallsyms);
    EXPECT_TRUE(facts.has_tracefs);
    EXPECT_EQ(facts.online_cpu_count, 5U);
    EXPECT_EQ(facts.perf_event_paranoid, 3);
    EXPECT_EQ(facts.perf_event_max_sample_rate_hz, 100000U);
    EXPECT_EQ(facts.unprivileged_bpf_disabled, 2);
    EXPECT_EQ(facts.bpf_jit_enable, 1);
    EXPECT_EQ(facts.kptr_restrict, 1);
    EXPECT_EQ(facts.locked_memory_limit_bytes, 8388608U);
}

TEST(ReadSystemFacts, LeavesOpenWhatIsNotThere) {
    const TemporaryDirectory root;
    const SystemFacts facts = read_system_facts(root.path());
    EXPECT_EQ(facts.effective_capabilities, 0U);
    EXPECT_FALSE(facts.in_user_namespace);
    EXPECT_FALSE(facts.has_btf);
    EXPECT_EQ(facts.lockdown, "");
    EXPECT_EQ(facts.online_cpu_count, 0U);
    EXPECT_EQ(facts.perf_event_paranoid, std::nullopt);
    EXPECT_EQ(facts.perf_event_max_sample_rate_hz, std::nullopt);
    EXPECT_EQ(facts.bpf_jit_enable, std::nullopt);
    EXPECT_EQ(facts.locked_memory_limit_bytes, std::nullopt);
    EXPECT_FALSE(facts.kernel_is_at_least(0, 0));
}

TEST(ReadSystemFacts, KnowsContainersAndUserNamespaces) {
    for (const char* mark : {".dockerenv", "run/.containerenv", "run/systemd/container"}) {
        const TemporaryDirectory root;
        root.write(mark, "");
        root.write("proc/self/uid_map", "0 100000 65536\n");
        const SystemFacts facts = read_system_facts(root.path());
        EXPECT_TRUE(facts.in_container) << mark;
        EXPECT_TRUE(facts.in_user_namespace);
    }
}

TEST(ReadSystemFacts, TakesUnlimitedMemoryAsNoLimit) {
    const TemporaryDirectory root;
    root.write("proc/self/limits", "Max locked memory         unlimited   unlimited   bytes\n");
    EXPECT_EQ(read_system_facts(root.path()).locked_memory_limit_bytes, std::nullopt);
}

TEST(ReadSystemFacts, AgreesWithTheKernelItRunsOn) {
    utsname names{};
    ASSERT_EQ(::uname(&names), 0);
    const SystemFacts facts = read_system_facts();
    EXPECT_EQ(facts.kernel_release, names.release);
    EXPECT_EQ(facts.effective_uid, ::geteuid());
    EXPECT_EQ(facts.online_cpu_count, ::sysconf(_SC_NPROCESSORS_ONLN));
}

TEST(KernelRelease, IsComparedByNumber) {
    SystemFacts facts;
    facts.kernel_release = "5.10.0-46-cloud-amd64";
    EXPECT_TRUE(facts.kernel_is_at_least(5, 10));
    EXPECT_TRUE(facts.kernel_is_at_least(5, 9));
    EXPECT_TRUE(facts.kernel_is_at_least(4, 19));
    EXPECT_FALSE(facts.kernel_is_at_least(5, 11));
    EXPECT_FALSE(facts.kernel_is_at_least(6, 1));
    facts.kernel_release = "7.3-rc7";
    EXPECT_TRUE(facts.kernel_is_at_least(7, 3));
    facts.kernel_release = "unknown";
    EXPECT_FALSE(facts.kernel_is_at_least(5, 10));
}

// Rights by capability and kernel.perf_event_paranoid. From 3 on (Debian, Ubuntu) only
// CAP_SYS_ADMIN counts; up to 2 CAP_PERFMON does; at 0 nobody needs a right.
TEST(MayRecord, FollowsCapabilitiesAndParanoidLevel) {
    struct Case {
        std::uint64_t capabilities;
        int paranoid;
        bool perf;
        bool bpf;
    };
    const Case cases[] = {
        {0, 2, false, false},
        {0, 0, true, false},
        {bit(CAP_PERFMON), 2, true, false},
        {bit(CAP_BPF), 2, false, false},
        {bit(CAP_BPF) | bit(CAP_PERFMON), 2, true, true},
        {bit(CAP_BPF) | bit(CAP_PERFMON), 3, false, true},
        {bit(CAP_BPF) | bit(CAP_PERFMON), 4, false, true},
        {bit(CAP_SYS_ADMIN), 4, true, true},
    };
    for (const Case& c : cases) {
        SystemFacts facts;
        facts.effective_capabilities = c.capabilities;
        facts.perf_event_paranoid = c.paranoid;
        EXPECT_EQ(facts.may_open_perf_events(), c.perf) << c.capabilities << " at " << c.paranoid;
        EXPECT_EQ(facts.may_load_bpf(), c.bpf) << c.capabilities << " at " << c.paranoid;
        EXPECT_EQ(facts.may_record(), c.perf && c.bpf);
        facts.in_user_namespace = true;
        EXPECT_FALSE(facts.may_record()) << "capabilities of a user namespace do not count";
    }
}

}  // namespace
}  // namespace bobbin::cli
