// SPDX-License-Identifier: Apache-2.0
#include "daemon/file_keeper.h"

#include <malloc.h>
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
// A look through all arenas takes about a millisecond.
constexpr std::chrono::seconds kBetweenGivingBack{2};

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
        give_memory_back(now);
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

// A builder's arena of malloc keeps what the dearest of its files needed: pages that nobody touches
// again are the kernel's once no file is on its way. Elsewhere than in glibc that is malloc's own
// business.
void FileKeeper::give_memory_back(Clock::time_point now) {
    const std::uint64_t finished = files_->pending.finished_count();
    if (finished == finished_then_ || files_->pending.count() != 0) return;
    if (now - gave_back_at_ < kBetweenGivingBack) return;
    finished_then_ = finished;
    gave_back_at_ = now;
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

void FileKeeper::look_after_events() {
    if (!files_->exec_events) return;
    auto& events = *files_->exec_events;
    events.collect();
    if (mounts_changed_) events.mark_mounts();
    for (const pid_t pid : files_->take_processes()) events.mark_mounts_of(pid);
}

}  // namespace bobbin::daemon
