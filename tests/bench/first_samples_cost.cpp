// SPDX-License-Identifier: Apache-2.0
#include "bench/first_samples_cost.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>

namespace bobbin::bench {
namespace {

using Fields = std::map<std::string, std::uint64_t>;

// "VmRSS:     1234 kB": numbers by name.
Fields read_fields(const std::filesystem::path& path) {
    Fields fields;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t value = 0;
        if (words >> name >> value) fields[name] = value;
    }
    return fields;
}

bool is_readable_within(int fd, std::chrono::milliseconds duration) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, static_cast<int>(duration.count())) > 0;
}

}  // namespace

// Several fds may be of one map: each id counts once.
MemoryUse memory_of(pid_t process) {
    const std::filesystem::path proc = fmt::format("/proc/{}", process);
    std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> bytes_by_id;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(proc / "fdinfo", gone)) {
        const Fields fields = read_fields(entry.path());
        for (const std::string kind : {"map_id:", "prog_id:"})
            if (fields.contains(kind) && fields.contains("memlock:"))
                bytes_by_id[{kind, fields.at(kind)}] = fields.at("memlock:");
    }
    MemoryUse use;
    for (const auto& [id, bytes] : bytes_by_id) use.bpf_bytes += bytes;
    Fields status = read_fields(proc / "status");
    use.resident_bytes = status["VmRSS:"] * 1024;
    use.own_bytes = status["RssAnon:"] * 1024;
    return use;
}

double cpu_seconds_of(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string text;
    std::getline(file, text);
    std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string word;
    for (int field = 3; field < 14; ++field) rest >> word;  // proc(5): utime is 14, stime 15
    double user_ticks = 0;
    double system_ticks = 0;
    rest >> user_ticks >> system_ticks;
    return (user_ticks + system_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

MemoryUse memory_after(pid_t process, std::chrono::milliseconds duration) {
    const UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    (void)is_readable_within(fd.get(), duration);
    return memory_of(process);
}

MemoryUse memory_at_rest(pid_t process) {
    constexpr int kMostLooks = 15;
    constexpr int kEqualLooks = 3;
    MemoryUse use = memory_of(process);
    for (int look = 0, equal = 1; look < kMostLooks && equal < kEqualLooks; ++look) {
        const MemoryUse now = memory_after(process, std::chrono::seconds{1});
        const bool same = now.bpf_bytes == use.bpf_bytes &&
                          now.resident_bytes <= use.resident_bytes + use.resident_bytes / 100 &&
                          use.resident_bytes <= now.resident_bytes + now.resident_bytes / 100;
        equal = same ? equal + 1 : 1;
        use = now;
    }
    return use;
}

PeakWatch::PeakWatch(pid_t process)
    : end_(::eventfd(0, EFD_CLOEXEC)), watcher_([this, process] { watch(process); }) {}

void PeakWatch::watch(pid_t process) {
    do {
        const MemoryUse now = memory_of(process);
        peak_.resident_bytes = std::max(peak_.resident_bytes, now.resident_bytes);
        peak_.own_bytes = std::max(peak_.own_bytes, now.own_bytes);
        peak_.bpf_bytes = std::max(peak_.bpf_bytes, now.bpf_bytes);
    } while (!is_readable_within(end_.get(), std::chrono::milliseconds{100}));
}

MemoryUse PeakWatch::peak() {
    ::eventfd_write(end_.get(), 1);
    watcher_.join();
    return peak_;
}

}  // namespace bobbin::bench
