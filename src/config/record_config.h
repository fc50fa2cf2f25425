// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output/output_file.h"

namespace bobbin::config {

enum class FrameScope { kUserAndKernel, kUserOnly, kKernelOnly };

// How names of C++, Rust and D are written: as in the symbol table, without parameters, or whole.
enum class NameStyle { kMangled, kSimplified, kFull };

// Everything `bobbin record` was told, checked once and never changed again.
struct RecordConfig {
    static constexpr std::uint32_t kMinFrequencyHz = 1;
    static constexpr std::uint32_t kMaxFrequencyHz = 10'000;
    static constexpr std::uint64_t kMinMaxUnwindMemoryBytes = 4ULL << 20;
    static constexpr std::uint64_t kMinMaxMemoryBytes = 64ULL << 20;
    static constexpr std::uint64_t kDefaultMaxUnwindMemoryBytes = 256ULL << 20;
    static constexpr std::uint64_t kDefaultMaxMemoryBytes = 512ULL << 20;

    std::uint32_t frequency_hz = 99;  // 99, not 100: does not march in step with timers
    std::optional<std::chrono::nanoseconds> duration;
    std::vector<output::OutputFile> outputs;
    // Who is sampled: all of these, or nothing but `command` and its children.
    std::vector<pid_t> pids;                // processes and their children; ascending, each once
    std::vector<pid_t> tids;                // single threads; ascending, each once
    std::vector<std::uint64_t> cgroup_ids;  // of version 2, with all below; ascending, each once
    std::vector<std::string> comms;         // names of threads, or "na*"
    std::vector<std::string> command;       // started by us; empty: none
    // No target and no command was named, or -a was given: then a command only sets the end.
    bool whole_machine = true;
    FrameScope scope = FrameScope::kUserAndKernel;
    // Budgets: of unwind tables in the kernel, of the agent itself.
    std::uint64_t max_unwind_memory_bytes = kDefaultMaxUnwindMemoryBytes;
    std::uint64_t max_memory_bytes = kDefaultMaxMemoryBytes;
    std::optional<std::uint64_t> max_stack_bytes;  // none: a part of max_memory_bytes
    NameStyle name_style = NameStyle::kSimplified;
    std::string debuginfod_urls;  // servers of debug files, separated by blanks; empty: none
    bool quiet = false;
    bool summary_as_json = false;  // to standard output

    [[nodiscard]] bool has_targets() const {
        return !pids.empty() || !tids.empty() || !cgroup_ids.empty() || !comms.empty();
    }
};

}  // namespace bobbin::config
