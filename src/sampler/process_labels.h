// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "bobbin/bpf_abi.h"

namespace bobbin::sampler {

// What a sample cannot say of its process itself.
struct ProcessLabels {
    std::string cgroup;     // path below the hierarchy's root
    std::string unit;       // nginx.service
    std::string container;  // id, shortened to 12 digits as engines show it
};

// From the text of /proc/PID/cgroup: the unified hierarchy's path, else that of systemd's own.
ProcessLabels parse_cgroup(std::string_view text);

// Reads the labels of a process when its first sample comes, because later it may be gone, and
// keeps them by (pid, start time). Any thread.
class ProcessLabelReader {
public:
    explicit ProcessLabelReader(std::string proc = "/proc") : proc_(std::move(proc)) {}

    void notice(const abi::sample_header& sample);
    [[nodiscard]] ProcessLabels find(std::uint32_t pid, std::uint64_t process_start_boot_ns) const;

private:
    std::string proc_;
    mutable std::mutex mutex_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, ProcessLabels> by_process_;
};

}  // namespace bobbin::sampler
