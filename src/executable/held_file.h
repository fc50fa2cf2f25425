// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "executable/file_status.h"

namespace bobbin::executable {

// The contents of a file for as long as names may be read from it: by a descriptor, which survives
// that the file is deleted or replaced but keeps its file system from being unmounted; or, once let
// go, by its path, as long as the same file is there. Any thread.
class HeldFile {
public:
    // `path` leads to it as this process sees it, or leads nowhere: a container's may not.
    HeldFile(UniqueFd fd, std::string path);

    // Sees for itself where the path leads, once, and may wait for a disk. Before, and when it led
    // elsewhere, the file is not let go: a path of another mount namespace looks like one that is
    // just not known by heart.
    void look_up_path();

    // A descriptor of one's own. Error: there is none any more and the path leads to another file,
    // or to none.
    [[nodiscard]] Result<UniqueFd> open_for_reading() const;

    [[nodiscard]] bool is_held() const;
    // Whether no directory leads to it any more, as far as can be told without waiting: nobody will
    // execute it again who does not map it already.
    [[nodiscard]] bool is_gone() const;
    [[nodiscard]] const FileStatus& status() const { return status_; }

    // Closes the descriptor if the path leads to the same file, as far as can be told without
    // waiting; where it cannot be told, the path is believed in. Whether it was closed.
    bool let_go();
    // Closes it in any case; the same answer.
    bool drop();

private:
    [[nodiscard]] Result<UniqueFd> find_by_path() const;
    [[nodiscard]] bool is_found_by_path() const;
    [[nodiscard]] Result<UniqueFd> find_by_cached_path() const;
    [[nodiscard]] Result<UniqueFd> check(UniqueFd place) const;

    mutable std::mutex mutex_;
    UniqueFd fd_;
    bool path_led_here_ = false;
    std::string path_;
    FileStatus status_;
};

}  // namespace bobbin::executable
