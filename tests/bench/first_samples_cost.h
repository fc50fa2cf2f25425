// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace bobbin::bench {

struct MemoryUse {
    std::uint64_t resident_bytes = 0;  // VmRSS
    std::uint64_t bpf_bytes = 0;       // "memlock" of each map and program it has an fd of
};

MemoryUse memory_of(pid_t process);
double cpu_seconds_of(pid_t process);  // user and system

// Looks every 100 ms, from construction until the peak is asked for.
class PeakWatch {
public:
    explicit PeakWatch(pid_t process);
    MemoryUse peak();

private:
    MemoryUse peak_;
    std::jthread watcher_;
};

}  // namespace bobbin::bench
