// SPDX-License-Identifier: Apache-2.0
#include "executable/exec_events.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "executable/file_status.h"
#include "executable/mounts.h"

namespace bobbin::executable {
namespace {

// The kernel's own bound is fs.fanotify.max_user_marks, 8,192 at least.
constexpr std::size_t kMaxMarks = 1024;
constexpr std::size_t kMaxMountinfoBytes = std::size_t{4} << 20;
// So that a flood cannot keep the opener here: the kernel's queue has 16,384 places.
constexpr int kMaxReads = 32;

// From the start: a poll of it is answered by reading it again.
std::string read_mountinfo(int fd) {
    std::string text;
    std::array<char, 16384> part{};
    off_t offset = 0;
    while (text.size() < kMaxMountinfoBytes) {
        const ssize_t length = ::pread(fd, part.data(), part.size(), offset);
        if (length <= 0) break;
        text.append(part.data(), static_cast<std::size_t>(length));
        offset += length;
    }
    return text;
}

// Without FAN_MARK_IGNORED_SURV_MODIFY: a file that is written to is another one. Evictable (Linux
// 5.19), so that the mark does not keep the inode in memory.
void ignore_from_now_on(int group, int fd) {
    constexpr unsigned kFlags = FAN_MARK_ADD | FAN_MARK_IGNORED_MASK;
    if (::fanotify_mark(group, kFlags | FAN_MARK_EVICTABLE, FAN_OPEN_EXEC, fd, nullptr) == 0) {
        return;
    }
    ::fanotify_mark(group, kFlags, FAN_OPEN_EXEC, fd, nullptr);
}

}  // namespace

ExecEvents::ExecEvents(ExecEvents&& other) noexcept
    : group_(std::move(other.group_)), mounts_(std::move(other.mounts_)) {}

Result<ExecEvents> ExecEvents::open() {
    UniqueFd group(::fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK,
                                   O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!group.is_open()) return fail_with(errno, "fanotify_init");
    UniqueFd mounts(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
    if (!mounts.is_open()) return fail_with(errno, "open /proc/self/mountinfo");
    if (::fanotify_mark(group.get(), FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_EXEC, AT_FDCWD,
                        "/") != 0) {
        return fail_with(errno, "fanotify_mark /");
    }
    ExecEvents events(std::move(group), std::move(mounts));
    events.mark_mounts();
    return events;
}

// A mark that is there already is no error, and one that fails costs that file system alone. The
// way to a mount may lead through a file system that does not answer.
void ExecEvents::mark_all(std::string_view mountinfo, int root) {
    for (const Mount& mount : mounts_with_programs(mountinfo, kMaxMarks)) {
        const UniqueFd place(open_place_cached(root, mount.path.c_str()));
        if (!place.is_open()) continue;
        ::fanotify_mark(group_.get(), FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_EXEC, AT_FDCWD,
                        fmt::format("/proc/self/fd/{}", place.get()).c_str());
    }
}

void ExecEvents::mark_mounts() { mark_all(read_mountinfo(mounts_.get()), AT_FDCWD); }

void ExecEvents::mark_mounts_of(pid_t pid) {
    const UniqueFd theirs(open_place(fmt::format("/proc/{}/root", pid).c_str()));
    const UniqueFd ours(open_place("/"));
    const auto their_status = status_of(theirs.get());
    const auto our_status = status_of(ours.get());
    if (!their_status || !our_status || is_same_file(*their_status, *our_status)) return;
    const UniqueFd mountinfo(
        ::open(fmt::format("/proc/{}/mountinfo", pid).c_str(), O_RDONLY | O_CLOEXEC));
    if (mountinfo.is_open()) mark_all(read_mountinfo(mountinfo.get()), theirs.get());
}

void ExecEvents::take(UniqueFd fd, UnclaimedFiles::TimePoint now) {
    ignore_from_now_on(group_.get(), fd.get());
    const auto status = status_of(fd.get());
    if (status && status->is_regular) unclaimed_.add(std::move(fd), *status, now);
}

void ExecEvents::collect() {
    alignas(fanotify_event_metadata) std::array<std::byte, 4096> buffer{};
    const auto now = std::chrono::steady_clock::now();
    const std::scoped_lock lock(mutex_);
    unclaimed_.expire(now);
    for (int i = 0; i < kMaxReads; ++i) {
        // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): the group is non-blocking
        ssize_t left = ::read(group_.get(), buffer.data(), buffer.size());
        if (left <= 0) return;
        const auto* event = reinterpret_cast<const fanotify_event_metadata*>(buffer.data());
        for (; FAN_EVENT_OK(event, left); event = FAN_EVENT_NEXT(event, left)) {
            if ((event->mask & FAN_Q_OVERFLOW) != 0) ++overflow_count_;
            if (event->fd >= 0) take(UniqueFd(event->fd), now);
        }
    }
}

std::optional<UniqueFd> ExecEvents::claim(const abi::file_key& key) {
    const std::scoped_lock lock(mutex_);
    return unclaimed_.claim(key);
}

bool ExecEvents::is_holding() const {
    const std::scoped_lock lock(mutex_);
    return unclaimed_.count() != 0;
}

std::uint64_t ExecEvents::overflow_count() const {
    const std::scoped_lock lock(mutex_);
    return overflow_count_;
}

}  // namespace bobbin::executable
