// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"
#include "executable/unclaimed_files.h"

namespace bobbin::executable {

// Files held open by the kernel from the moment they are executed, so that one can be had whose
// process ended and whose name is gone before anybody looked: a queued FAN_OPEN_EXEC event
// (fanotify(7), Linux 5.0) pins its file. A notification only: nothing ever waits for us. A file
// whose event was seen is ignored from then on, so programs that run often cost nothing. It sees
// what is executed and its ELF interpreter, not libraries. Any thread.
class ExecEvents {
public:
    // Marks every file system of /proc/self/mountinfo. Error: not allowed (CAP_SYS_ADMIN), or the
    // kernel is without fanotify.
    static Result<ExecEvents> open();

    // Takes over what the kernel holds; drops what nobody claimed.
    void collect();
    // The file with this key, if its event came.
    std::optional<UniqueFd> claim(const abi::file_key& key);

    // Marks what was mounted since, for when mounts_fd() has POLLPRI.
    void mark_mounts();
    // The same for a process that lives below another root than ours: a container's.
    void mark_mounts_of(pid_t pid);

    // Readable when events wait; POLLPRI when mounts changed. Borrowed.
    [[nodiscard]] int events_fd() const { return group_.get(); }
    [[nodiscard]] int mounts_fd() const { return mounts_.get(); }

    // Whether files wait to be claimed or dropped.
    [[nodiscard]] bool is_holding() const;
    [[nodiscard]] std::uint64_t overflow_count() const;

    ExecEvents(ExecEvents&& other) noexcept;

private:
    ExecEvents(UniqueFd group, UniqueFd mounts)
        : group_(std::move(group)), mounts_(std::move(mounts)) {}
    void mark_all(std::string_view mountinfo, int root);
    void take(UniqueFd fd, UnclaimedFiles::TimePoint now);

    UniqueFd group_;
    UniqueFd mounts_;

    mutable std::mutex mutex_;
    UnclaimedFiles unclaimed_;
    std::uint64_t overflow_count_ = 0;
};

}  // namespace bobbin::executable
