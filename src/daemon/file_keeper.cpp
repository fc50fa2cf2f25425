// SPDX-License-Identifier: Apache-2.0
#include "daemon/file_keeper.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace bobbin::daemon {
namespace {

using Clock = std::chrono::steady_clock;

// Files that were executed since are held by the kernel, so nobody need wake for each.
constexpr std::chrono::milliseconds kBetweenEvents{20};
constexpr std::chrono::milliseconds kWhileBusy{500};
constexpr std::chrono::milliseconds kAtLeastEvery{2000};

}  // namespace

FileKeeper::FileKeeper(std::shared_ptr<FilesInFlight> files, BuilderCrew& builders)
    : files_(std::move(files)),
      builders_(builders),
      stop_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void FileKeeper::run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { ::eventfd_write(stop_fd_.get(), 1); });
    while (!stop.stop_requested()) {
        wait_for_events();
        if (stop.stop_requested()) return;
        const auto now = Clock::now();
        builders_.leave_stuck_behind(now);
        files_->held.let_go_of_old(now);
        look_after_events();
        pollfd stopping{.fd = stop_fd_.get(), .events = POLLIN, .revents = 0};
        ::poll(&stopping, 1, static_cast<int>(kBetweenEvents.count()));
    }
}

std::chrono::milliseconds FileKeeper::time_to_next() const {
    const bool holding = files_->exec_events && files_->exec_events->is_holding();
    const auto longest = holding || files_->pending.count() > 0 ? kWhileBusy : kAtLeastEvery;
    const auto due = files_->held.next_due();
    if (due == Clock::time_point::max()) return longest;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
    return std::clamp(left, std::chrono::milliseconds{0}, longest);
}

// A change of mounts is told once.
void FileKeeper::wait_for_events() {
    const auto* const events = files_->exec_events ? &*files_->exec_events : nullptr;
    pollfd waiting[] = {
        {.fd = stop_fd_.get(), .events = POLLIN, .revents = 0},
        {.fd = events != nullptr ? events->events_fd() : -1, .events = POLLIN, .revents = 0},
        {.fd = events != nullptr ? events->mounts_fd() : -1, .events = POLLPRI, .revents = 0}};
    ::poll(waiting, std::size(waiting), static_cast<int>(time_to_next().count()));
    mounts_changed_ = waiting[2].revents != 0;
}

void FileKeeper::look_after_events() {
    if (!files_->exec_events) return;
    auto& events = *files_->exec_events;
    events.collect();
    if (mounts_changed_) events.mark_mounts();
    for (const pid_t pid : files_->take_processes()) events.mark_mounts_of(pid);
}

}  // namespace bobbin::daemon
