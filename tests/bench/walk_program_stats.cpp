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

// The id in /proc/PID/fdinfo/N of a BPF program, else 0. Format: "prog_id:\t123".
std::uint32_t program_id(const fs::path& fdinfo) {
    std::ifstream lines(fdinfo);
    std::string key;
    std::string rest;
    while (lines >> key && std::getline(lines, rest))
        if (key == "prog_id:") return static_cast<std::uint32_t>(std::stoul(rest));
    return 0;
}

std::set<std::uint32_t> program_ids(const std::string& pid) {
    std::set<std::uint32_t> ids;
    std::error_code gone;
    for (fs::directory_iterator entry("/proc/" + pid + "/fdinfo", gone), end; !gone && entry != end;
         entry.increment(gone)) {
        if (const std::uint32_t id = program_id(entry->path()); id != 0) ids.insert(id);
    }
    return ids;
}

}  // namespace

ProgramStats read_program_stats(int program_fd) {
    bpf_prog_info info{};
    __u32 size = sizeof(info);
    ProgramStats stats;
    if (bpf_obj_get_info_by_fd(program_fd, &info, &size) != 0) return stats;
    stats.name = info.name;
    stats.type = info.type;
    stats.run_time_ns = info.run_time_ns;
    stats.run_count = info.run_cnt;
    stats.verified_instructions = info.verified_insns;
    return stats;
}

// A child begins with copies of our descriptors, which exec closes only after it has woken us.
ProgramsOfProcess::ProgramsOfProcess(pid_t pid) : pid_(pid), not_its_own_(program_ids("self")) {}

void ProgramsOfProcess::hold_new_ones() {
    for (const std::uint32_t id : program_ids(std::to_string(pid_))) {
        if (not_its_own_.contains(id) || by_id_.contains(id)) continue;
        UniqueFd program(bpf_prog_get_fd_by_id(id));
        if (program.is_open()) by_id_.emplace(id, std::move(program));
    }
}

std::vector<ProgramStats> ProgramsOfProcess::all() const {
    std::vector<ProgramStats> stats;
    for (const auto& [id, program] : by_id_) stats.push_back(read_program_stats(program.get()));
    return stats;
}

ProgramStats ProgramsOfProcess::busiest() const {
    ProgramStats busiest;
    for (const ProgramStats& stats : all())
        if (stats.type == BPF_PROG_TYPE_PERF_EVENT && stats.run_count >= busiest.run_count)
            busiest = stats;
    return busiest;
}

}  // namespace bobbin::bench
