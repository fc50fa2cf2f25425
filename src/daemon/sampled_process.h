// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "symbolize/code_maps.h"

namespace bobbin::daemon {

// What /proc/PID/status says of who a process is.
struct ProcessIdentity {
    pid_t own_pid = 0;     // its number in its own pid namespace, by which it names its files
    std::set<uid_t> uids;  // real, effective, saved and of the file system
};
std::optional<ProcessIdentity> parse_identity(std::string_view status);

// Of /proc/PID/stat, in clock ticks since boot.
std::optional<std::uint64_t> parse_start_ticks(std::string_view stat);

// "7f12-7f13", the name in /proc/PID/map_files of the executable mapping by which a runtime shows
// its jitdump: of a file jit-NUMBER.dump, best with the process's own number (a child that never
// executed anything has its parent's). Empty: there is none. `maps` is /proc/PID/maps.
std::string find_jitdump_mapping(std::string_view maps, pid_t own_pid);

// A process that was sampled, and the files in which it describes its generated code. What it or
// its user puts in their place is not followed: no symbolic link, no FIFO, no device, and no file
// that belongs to anybody but one of its users or root. Nothing here is for a thread in a hurry:
// a file system may not answer.
class SampledProcess {
public:
    // Error: it is gone, or another process has its number.
    static Result<SampledProcess> open(const symbolize::ProcessId& id);

    // Readable once it has ended. Borrowed.
    [[nodiscard]] int exit_fd() const { return pidfd_.get(); }

    // /tmp/perf-PID.map as the process sees it; also found when it has just ended. Error with
    // ENOENT: there is none.
    [[nodiscard]] Result<UniqueFd> open_perf_map();
    // The same; error with ESRCH once it has ended.
    [[nodiscard]] Result<UniqueFd> open_jitdump();

private:
    SampledProcess(const symbolize::ProcessId& id, UniqueFd pidfd)
        : id_(id), pidfd_(std::move(pidfd)) {}
    [[nodiscard]] Result<UniqueFd> open_directory() const;
    void look_at(int directory_fd);
    [[nodiscard]] Result<UniqueFd> open_own(UniqueFd place) const;

    symbolize::ProcessId id_;
    UniqueFd pidfd_;
    UniqueFd tmp_;  // its /tmp; holds no mount that the process does not hold
    ProcessIdentity identity_;
};

}  // namespace bobbin::daemon
