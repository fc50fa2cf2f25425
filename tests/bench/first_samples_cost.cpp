// SPDX-License-Identifier: Apache-2.0
#include "bench/first_samples_cost.h"

#include <fmt/format.h>
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
    use.resident_bytes = read_fields(proc / "status")["VmRSS:"] * 1024;
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

PeakWatch::PeakWatch(pid_t process)
    : watcher_([this, process](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
              const MemoryUse now = memory_of(process);
              peak_.resident_bytes = std::max(peak_.resident_bytes, now.resident_bytes);
              peak_.bpf_bytes = std::max(peak_.bpf_bytes, now.bpf_bytes);
              std::this_thread::sleep_for(std::chrono::milliseconds{100});
          }
      }) {}

MemoryUse PeakWatch::peak() {
    watcher_.request_stop();
    watcher_.join();
    return peak_;
}

}  // namespace bobbin::bench
