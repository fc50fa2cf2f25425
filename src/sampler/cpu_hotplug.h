// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::sampler {

// The CPUs that are online, from /sys/devices/system/cpu/online ("0-3,8"); ascending.
Result<std::vector<int>> online_cpus();
Result<std::vector<int>> parse_cpu_list(std::string_view text);

// What is to be done so that each online CPU has an event that ticks. An event does not come back
// with its CPU: one that was away meanwhile (`replugged`) is in both lists.
struct CpuChanges {
    std::vector<int> to_close;
    std::vector<int> to_open;
};
// All lists ascending.
CpuChanges changes_between(std::span<const int> watched, std::span<const int> online,
                           std::span<const int> replugged);

// The kernel's message that a CPU came or went, "online@/devices/system/cpu/cpu3" and more behind a
// NUL; nullopt: it is about something else.
std::optional<int> parse_cpu_event(std::string_view message);

// Which CPUs came or went since the last look, also those that did both. Cheap: a read of a few
// bytes and a receive that finds nothing. Where this network namespace hears no such messages, a
// CPU that went and came between two looks stays unnoticed.
class CpuWatch {
public:
    CpuWatch();
    [[nodiscard]] std::vector<int> take_replugged(std::span<const int> watched);

private:
    UniqueFd messages_;
};

}  // namespace bobbin::sampler
