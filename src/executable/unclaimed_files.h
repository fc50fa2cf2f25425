// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"
#include "executable/file_status.h"

namespace bobbin::executable {

// Files that were executed and that nobody has asked for yet, open: their processes and names may
// be gone by the time their announcement is read. Few, and for a short time. One thread at a time.
class UnclaimedFiles {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    static constexpr std::size_t kMaxCount = 512;
    // An announcement follows its exec within a millisecond, and is read within 10 on a busy
    // machine.
    static constexpr std::chrono::seconds kMaxAge{2};

    // A file that is there already is not kept twice; too many push out the oldest.
    void add(UniqueFd fd, const FileStatus& status, TimePoint now);
    void expire(TimePoint now);

    // The file with this key. Where device and inode do not prove it (overlayfs, btrfs), only if no
    // other fits as well.
    std::optional<UniqueFd> claim(const abi::file_key& key);

    [[nodiscard]] std::size_t count() const { return files_.size(); }

private:
    struct File {
        UniqueFd fd;
        FileStatus status;
        TimePoint since;
    };
    std::deque<File> files_;  // oldest first
};

}  // namespace bobbin::executable
