// SPDX-License-Identifier: Apache-2.0
// The rule memory answers for the tables only while the mappings stand still. Here the tables are
// asked too at every use (BOBBIN_RULE_MEMORY=check), and may never say anything else.
#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "sampler/outcome_counts.h"
#include "support/child_process.h"
#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;

// Kernels before 6.4, and such without CONFIG_PER_VMA_LOCK, count no changes of mappings.
bool kernel_counts_changes_of_mappings() {
    std::ifstream config("/sys/kernel/btf/vmlinux", std::ios::binary);
    const std::string types{std::istreambuf_iterator<char>(config), {}};
    constexpr std::string_view kName("\0mm_lock_seq\0", 13);
    return types.find(kName) != std::string::npos;
}

// "map_id:\t12" in /proc/PID/fdinfo/N; 0: not a map.
__u32 map_id_in(const fs::path& fdinfo) {
    std::ifstream lines(fdinfo);
    std::string key;
    std::string value;
    while (lines >> key && std::getline(lines, value))
        if (key == "map_id:") return static_cast<__u32>(std::stoul(value));
    return 0;
}

// The counters of a bobbin that runs; they outlive it.
UniqueFd outcome_counts_of(pid_t pid) {
    for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fdinfo", pid))) {
        const __u32 id = map_id_in(entry.path());
        if (id == 0) continue;
        UniqueFd map(bpf_map_get_fd_by_id(id));
        bpf_map_info info{};
        __u32 size = sizeof(info);
        if (map.is_open() && bpf_obj_get_info_by_fd(map.get(), &info, &size) == 0 &&
            std::string_view(info.name) == "outcome_counts")
            return map;
    }
    return UniqueFd();
}

struct CheckedRun {
    FinishedProcess process;
    abi::outcome_counters counters{};
    ProfileText profile;
};

CheckedRun record_checked(const std::string& fixture) {
    const TemporaryDirectory directory;
    ChildProcess bobbin({program_path(), "record", "-F", "997", "-o", directory / "p.pb.gz", "--",
                         fixture_path(fixture), "4"},
                        {{"BOBBIN_RULE_MEMORY", "check"}});
    CheckedRun run;
    EXPECT_TRUE(bobbin.wait_for_output("running"));
    const UniqueFd counts = outcome_counts_of(bobbin.pid());
    run.process = bobbin.wait();
    EXPECT_EQ(run.process.exit_status, 0) << run.process.standard_error;
    const auto counters = sampler::read_outcome_counts(counts.get());
    EXPECT_TRUE(counters.has_value()) << counters.error().message();
    if (counters) run.counters = *counters;
    run.profile = read_pprof(directory / "p.pb.gz");
    return run;
}

void expect_exact(const CheckedRun& run, const std::string& fixture) {
    EXPECT_EQ(run.counters.rule_memory_differences, 0U);
    if (kernel_counts_changes_of_mappings()) {
        EXPECT_GT(run.counters.rule_memory_hits, run.counters.by_tick_outcome[abi::TICK_EMITTED])
            << "the memory was hardly used";
    } else {
        EXPECT_EQ(run.counters.rule_memory_hits, 0U);
    }
    const auto all = [](const Stack&) { return true; };
    const Verdict bottom = judge(run.profile.stacks_of(comm_of(fixture)), all, reaches_the_bottom);
    EXPECT_GE(bottom.judged, 300U);
    EXPECT_GE(bottom.share_right(), 0.99) << bottom.examples();
}

// 800 changes and more: by dlclose and dlopen of another library where one was, by mmap over code.
TEST(RuleMemory, IsExactWhileLibrariesTakeTurnsAtOneAddress) {
    const std::string fixture = "remapped_code.gcc.pie";
    const CheckedRun run = record_checked(fixture);
    const std::string_view output(run.process.standard_output);
    const auto said = output.find("taken over: ");
    ASSERT_NE(said, std::string_view::npos) << output;
    EXPECT_GT(std::stoul(std::string(output.substr(said + 12))), 10U)
        << "the libraries were never at one address";
    expect_exact(run, fixture);
}

TEST(RuleMemory, IsExactOnADeepStack) {
    const std::string fixture = "deep_stack.gcc.pie";
    const CheckedRun run = record_checked(fixture);
    expect_exact(run, fixture);
    if (kernel_counts_changes_of_mappings()) {
        EXPECT_GT(run.counters.rule_memory_hits,
                  300 * run.counters.by_tick_outcome[abi::TICK_EMITTED])
            << "of 600 frames";
    }
}

}  // namespace
}  // namespace bobbin::test
