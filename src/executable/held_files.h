// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "executable/held_file.h"

namespace bobbin::executable {

struct HoldLimits {
    std::size_t max_count = 4096;
    // How long a file system cannot be unmounted because of us.
    std::chrono::steady_clock::duration hold_for = std::chrono::seconds{30};
    // Of this device a file is held however long it takes: nobody unmounts "/", and there an
    // upgrade replaces programs while they run.
    std::uint32_t never_unmounted_device = 0;
};

// Which files are held open, and which have to be let go. Files without a name, and those that only
// a container's paths lead to, stay until there are too many. Any thread.
class HeldFiles {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    explicit HeldFiles(HoldLimits limits) : limits_(limits) {}

    void add(const std::shared_ptr<HeldFile>& file, TimePoint now);
    // Lets go of what was held long enough. May look up paths, so it may wait for a disk.
    void let_go_of_old(TimePoint now);
    // When there is something to let go of again; TimePoint::max(): never, as it is now.
    [[nodiscard]] TimePoint next_due() const;

    [[nodiscard]] std::size_t held_count() const;
    // Files whose contents nobody can read any more because there were too many.
    [[nodiscard]] std::uint64_t dropped_count() const;

private:
    struct Entry {
        std::weak_ptr<HeldFile> file;  // the catalog's
        TimePoint since;
    };
    void make_room();

    HoldLimits limits_;
    mutable std::mutex mutex_;
    std::deque<Entry> short_time_;  // oldest first, as below
    std::deque<Entry> long_time_;
    std::uint64_t dropped_count_ = 0;
};

}  // namespace bobbin::executable
