// SPDX-License-Identifier: Apache-2.0
#include "service/own_cost.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace bobbin::service {
namespace {

rusage usage_of(int who) {
    rusage usage{};
    ::getrusage(who, &usage);
    return usage;
}

std::chrono::nanoseconds to_duration(const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

std::chrono::nanoseconds cpu_time(const rusage& usage) {
    return to_duration(usage.ru_utime) + to_duration(usage.ru_stime);
}

}  // namespace

std::chrono::nanoseconds own_cpu_time() { return cpu_time(usage_of(RUSAGE_SELF)); }

std::chrono::nanoseconds child_cpu_time() { return cpu_time(usage_of(RUSAGE_CHILDREN)); }

// proc_pid_statm(5): the second number is what is resident, in pages.
std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    file >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_child_bytes() {
    return static_cast<std::uint64_t>(usage_of(RUSAGE_CHILDREN).ru_maxrss) * 1024;
}

}  // namespace bobbin::service
