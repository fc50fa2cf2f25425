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

// Everything `bobbin record` was told, checked once and never changed again.
struct RecordConfig {
    static constexpr std::uint32_t kMinFrequencyHz = 1;
    static constexpr std::uint32_t kMaxFrequencyHz = 10'000;

    std::uint32_t frequency_hz = 99;  // 99, not 100: does not march in step with timers
    std::optional<std::chrono::nanoseconds> duration;
    std::vector<output::OutputFile> outputs;
    std::vector<pid_t> pids;           // processes, not threads; ascending, each once
    std::vector<std::string> command;  // started by us; empty: none
    // Neither a process nor a command was named, or -a was given: then a command only sets the end.
    bool whole_machine = true;
    FrameScope scope = FrameScope::kUserAndKernel;
    bool quiet = false;
};

}  // namespace bobbin::config
