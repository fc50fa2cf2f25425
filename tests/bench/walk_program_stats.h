// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace bobbin::bench {

// What the kernel counts of a BPF program while bpf_stats are on (about 30 ns a run are the
// counting).
struct ProgramStats {
    std::string name;
    std::uint32_t type = 0;  // enum bpf_prog_type
    std::uint64_t run_time_ns = 0;
    std::uint64_t run_count = 0;
    std::uint32_t verified_instructions = 0;

    [[nodiscard]] double ns_a_run() const {
        return run_count == 0 ? 0
                              : static_cast<double>(run_time_ns) / static_cast<double>(run_count);
    }
};
ProgramStats read_program_stats(int program_fd);

// The BPF programs that a process has open, held so that their counts can be read when the process
// has ended.
class ProgramsOfProcess {
public:
    explicit ProgramsOfProcess(pid_t pid);
    void hold_new_ones();
    [[nodiscard]] std::vector<ProgramStats> all() const;
    // Of the perf_event programs, the one that ran most often.
    [[nodiscard]] ProgramStats busiest() const;

private:
    pid_t pid_;
    std::set<std::uint32_t> not_its_own_;
    std::map<std::uint32_t, UniqueFd> by_id_;
};

}  // namespace bobbin::bench
