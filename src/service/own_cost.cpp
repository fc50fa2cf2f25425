// SPDX-License-Identifier: Apache-2.0
#include "service/own_cost.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

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

struct Pages {
    std::uint64_t resident_bytes = 0;
    std::uint64_t shared_bytes = 0;  // of these: of files
};

// proc_pid_statm(5): the whole size, what is resident, what of it is shared, in pages.
Pages read_pages(const std::string& statm) {
    std::ifstream file(statm);
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    std::uint64_t shared = 0;
    file >> size >> resident >> shared;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return {.resident_bytes = resident * page, .shared_bytes = shared * page};
}

}  // namespace

std::chrono::nanoseconds own_cpu_time() { return cpu_time(usage_of(RUSAGE_SELF)); }

std::chrono::nanoseconds child_cpu_time() { return cpu_time(usage_of(RUSAGE_CHILDREN)); }

std::uint64_t resident_bytes() { return read_pages("/proc/self/statm").resident_bytes; }

// proc_pid_task(5): without CONFIG_PROC_CHILDREN there is no such file, and none is counted.
std::uint64_t children_bytes() {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::ifstream children(task.path() / "children");
        for (pid_t pid = 0; children >> pid;) {
            const Pages pages = read_pages("/proc/" + std::to_string(pid) + "/statm");
            bytes += pages.resident_bytes - pages.shared_bytes;
        }
    }
    return bytes;
}

}  // namespace bobbin::service
