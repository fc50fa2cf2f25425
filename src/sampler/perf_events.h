// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::sampler {

// The CPUs that are online, from /sys/devices/system/cpu/online ("0-3,8").
Result<std::vector<int>> online_cpus();
Result<std::vector<int>> parse_cpu_list(std::string_view text);

// One cpu-clock event on each online CPU, each running the tick program at `frequency_hz`. Sampling
// goes on from start() until stop() or destruction. cpu-clock and not cycles: it is there without a
// PMU and counts time. Main thread.
class PerfEvents {
public:
    // Error code of the failing system call in Error::code(): EACCES and EPERM mean privilege.
    static Result<PerfEvents> open(const std::vector<int>& cpus, std::uint32_t frequency_hz,
                                   int program_fd);
    Result<> start();
    Result<> stop();

private:
    explicit PerfEvents(std::vector<UniqueFd> events) : events_(std::move(events)) {}
    std::vector<UniqueFd> events_;
};

}  // namespace bobbin::sampler
