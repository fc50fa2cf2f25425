// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/capability.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bobbin::cli {

// What decides whether this process may sample this machine, as the kernel's files state it.
// nullopt: the file is not there or not readable.
struct SystemFacts {
    std::uint32_t effective_uid = 0;
    std::uint64_t effective_capabilities = 0;  // bit n: capability n of <linux/capability.h>
    bool in_user_namespace = false;            // whose capabilities do not count for BPF
    bool in_container = false;

    std::string kernel_release;
    std::string lockdown;  // "none", "integrity", "confidentiality"; empty: no such module
    bool has_btf = false;
    bool has_kallsyms = false;
    bool has_tracefs = false;
    std::uint32_t online_cpu_count = 0;

    std::optional<int> perf_event_paranoid;
    std::optional<std::uint32_t> perf_event_max_sample_rate_hz;
    std::optional<int> unprivileged_bpf_disabled;
    std::optional<int> bpf_jit_enable;  // readable for root only
    std::optional<int> kptr_restrict;
    std::optional<std::uint64_t> locked_memory_limit_bytes;  // nullopt: unlimited or not known

    [[nodiscard]] bool has_capability(unsigned capability) const {
        return (effective_capabilities >> capability & 1) != 0;
    }
    // perf_event_open of a whole CPU. From level 3 on (a patch of Debian's and Ubuntu's)
    // CAP_PERFMON does not count: only CAP_SYS_ADMIN does.
    [[nodiscard]] bool may_open_perf_events() const;
    // Loading a perf_event program and its maps.
    [[nodiscard]] bool may_load_bpf() const;
    [[nodiscard]] bool may_record() const { return may_open_perf_events() && may_load_bpf(); }
    // "6.1.0-56-amd64" is at least 5.10. False when the release cannot be read.
    [[nodiscard]] bool kernel_is_at_least(unsigned major, unsigned minor) const;
};

// Reads them below `root`, so that a test can lay out a machine of its own.
SystemFacts read_system_facts(const std::filesystem::path& root = "/");

}  // namespace bobbin::cli
