// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "base/unique_fd.h"
#include "daemon/builder_crew.h"
#include "daemon/files_in_flight.h"

namespace bobbin::daemon {

// What has to be done now and then, and by nobody who is in a hurry: takes over the files that exec
// events hold, marks what was mounted, lets go of files held long enough, looks after the builders,
// gives memory back that they have left.
class FileKeeper {
public:
    FileKeeper(std::shared_ptr<FilesInFlight> files, BuilderCrew& builders);

    // Until `stop` is requested.
    void run(const std::stop_token& stop);

private:
    [[nodiscard]] std::chrono::milliseconds time_to_next() const;
    void wait_for_events();
    void look_after_events();
    void give_memory_back(std::chrono::steady_clock::time_point now);

    std::shared_ptr<FilesInFlight> files_;
    BuilderCrew& builders_;
    UniqueFd stop_fd_;
    bool mounts_changed_ = false;
    std::chrono::steady_clock::time_point gave_back_at_;
    std::uint64_t finished_then_ = 0;  // files, at that time
};

}  // namespace bobbin::daemon
