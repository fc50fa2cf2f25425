// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "daemon/files_in_flight.h"

namespace bobbin::daemon {

// The builders of the unwind walk, small files first. A file system that does not answer (FUSE,
// NFS) holds whoever reads from it, and nothing can wake that thread: the crew leaves it behind,
// counts its file as lost and takes another in its place.
class BuilderCrew {
public:
    using Clock = std::chrono::steady_clock;

    // How long a file may keep its builder asleep. Time on a CPU, or waiting for one, does not
    // count: a large file on a busy machine is only slow.
    static constexpr std::chrono::seconds kMaxSleep{5};
    // Beyond these, builders are not replaced any more: nothing on the machine answers.
    static constexpr std::size_t kMaxLeftBehind = 64;

    BuilderCrew(std::shared_ptr<FilesInFlight> files, std::size_t count);
    // Builders who are at work get a short time to end it.
    ~BuilderCrew();
    BuilderCrew(const BuilderCrew&) = delete;
    BuilderCrew& operator=(const BuilderCrew&) = delete;

    // To be called about twice a second while files are pending, by one thread.
    void leave_stuck_behind(Clock::time_point now);

private:
    struct Builder;
    struct Member;

    void hire(bool only_small);
    static void run(const std::stop_token& stop, FilesInFlight& files, Builder& builder);

    std::shared_ptr<FilesInFlight> files_;
    std::vector<std::unique_ptr<Member>> members_;
    std::size_t left_behind_count_ = 0;
};

}  // namespace bobbin::daemon
