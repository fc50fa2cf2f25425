// SPDX-License-Identifier: Apache-2.0
#include "bench/walk_program_stats.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace bobbin::bench {
namespace {

namespace fs = std::filesystem;

// The id in /proc/PID/fdinfo/N of a perf_event program, else 0. Format: "prog_id:\t123".
std::uint32_t perf_event_program_id(const fs::path& fdinfo) {
    std::ifstream lines(fdinfo);
    std::uint32_t type = 0;
    std::uint32_t id = 0;
    std::string key;
    std::string rest;
    while (lines >> key && std::getline(lines, rest)) {
        if (key == "prog_type:") type = static_cast<std::uint32_t>(std::stoul(rest));
        if (key == "prog_id:") id = static_cast<std::uint32_t>(std::stoul(rest));
    }
    return type == BPF_PROG_TYPE_PERF_EVENT ? id : 0;
}

}  // namespace

ProgramStats read_program_stats(int program_fd) {
    bpf_prog_info info{};
    __u32 size = sizeof(info);
    ProgramStats stats;
    if (bpf_obj_get_info_by_fd(program_fd, &info, &size) != 0) return stats;
    stats.name = info.name;
    stats.run_time_ns = info.run_time_ns;
    stats.run_count = info.run_cnt;
    stats.verified_instructions = info.verified_insns;
    return stats;
}

void ProgramsOfProcess::hold_new_ones() {
    std::error_code gone;
    const fs::path directory = "/proc/" + std::to_string(pid_) + "/fdinfo";
    for (fs::directory_iterator entry(directory, gone), end; !gone && entry != end;
         entry.increment(gone)) {
        const std::uint32_t id = perf_event_program_id(entry->path());
        if (id == 0 || by_id_.contains(id)) continue;
        UniqueFd program(bpf_prog_get_fd_by_id(id));
        if (program.is_open()) by_id_.emplace(id, std::move(program));
    }
}

ProgramStats ProgramsOfProcess::busiest() const {
    ProgramStats busiest;
    for (const auto& [id, program] : by_id_) {
        ProgramStats stats = read_program_stats(program.get());
        if (stats.run_count >= busiest.run_count) busiest = std::move(stats);
    }
    return busiest;
}

}  // namespace bobbin::bench
