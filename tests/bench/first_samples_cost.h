// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "base/unique_fd.h"

namespace bobbin::bench {

struct MemoryUse {
    std::uint64_t resident_bytes = 0;  // VmRSS, in which pages of BPF maps are counted again
    std::uint64_t own_bytes = 0;       // RssAnon
    std::uint64_t bpf_bytes = 0;       // "memlock" of each map and program it has an fd of
};

MemoryUse memory_of(pid_t process);
// What it comes to rest at: three looks, a second apart, agree within 1 %; or after 15 s.
MemoryUse memory_at_rest(pid_t process);
// `duration` from now on, unless the process ends before.
MemoryUse memory_after(pid_t process, std::chrono::milliseconds duration);
double cpu_seconds_of(pid_t process);  // user and system

// Looks every 100 ms, from construction until the peak is asked for.
class PeakWatch {
public:
    explicit PeakWatch(pid_t process);
    MemoryUse peak();

private:
    void watch(pid_t process);

    UniqueFd end_;  // readable: the peak is asked for
    MemoryUse peak_;
    std::jthread watcher_;
};

}  // namespace bobbin::bench
