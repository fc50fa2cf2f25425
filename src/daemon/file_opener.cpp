// SPDX-License-Identifier: Apache-2.0
#include "daemon/file_opener.h"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "executable/run_first.h"

namespace bobbin::daemon {

using executable::LostFile;
using executable::LostReason;
using executable::OpenedFile;

namespace {

// steady_clock is CLOCK_MONOTONIC, by which the kernel side tells the time.
std::int64_t microseconds_since(std::uint64_t monotonic_ns) {
    const std::chrono::nanoseconds then{monotonic_ns};
    const auto passed = std::chrono::steady_clock::now().time_since_epoch() - then;
    return std::chrono::duration_cast<std::chrono::microseconds>(passed).count();
}

}  // namespace

Result<std::shared_ptr<FileOpener>> FileOpener::open(int announcements_fd,
                                                     std::shared_ptr<FilesInFlight> files) {
    std::shared_ptr<FileOpener> opener(new FileOpener(std::move(files)));
    BOBBIN_TRY(opener->announcements_,
               sampler::RingBuffer::open(
                   announcements_fd, [&self = *opener](std::span<const std::byte> record) {
                       if (const auto announcement = executable::parse_announcement(record)) {
                           self.handle(*announcement);
                       }
                   }));
    return opener;
}

void FileOpener::run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { files_->pending.wake(); });
    if (const auto first = executable::run_first(); !first) {
        spdlog::debug("files are opened at normal priority: {}", first.error().message());
    }
    while (!stop.stop_requested()) {
        wait();
        const std::uint64_t questions = files_->pending.take_questions();
        if (const auto read = announcements_->read(std::chrono::milliseconds{0}); !read) {
            spdlog::error("{}", read.error().message());
            return;
        }
        files_->pending.answer(questions);
    }
}

void FileOpener::wait() const {
    pollfd waiting[] = {{.fd = announcements_->poll_fd(), .events = POLLIN, .revents = 0},
                        {.fd = files_->pending.question_fd(), .events = POLLIN, .revents = 0}};
    ::poll(waiting, std::size(waiting), -1);
}

void FileOpener::handle(const abi::announcement& announcement) {
    files_->pending.add();
    if (auto opened = find(announcement)) {
        const std::uint64_t size_bytes = opened->size_bytes;
        spdlog::trace("file {} is open {} us after it was announced", opened->executable_id,
                      microseconds_since(announcement.time_ns));
        files_->opened.push(std::move(*opened), size_bytes);
    } else {
        spdlog::debug("{}", opened.error().error.message());
        files_->lose(announcement, opened.error().reason);
    }
    files_->note_process(static_cast<pid_t>(announcement.pid));
}

FileOpener::Opened FileOpener::find(const abi::announcement& announcement) {
    if (files_->is_silent(announcement.key.device)) {
        return tl::unexpected(
            LostFile{LostReason::kTooSlow, Error("a file of a file system that does not answer")});
    }
    Opened opened = executable::open_announced(announcement);
    if (opened) return opened;
    const LostReason reason = opened.error().reason;
    if (reason != LostReason::kGone && reason != LostReason::kReplaced) return opened;
    if (auto claimed = claim(announcement)) return std::move(*claimed);
    return opened;
}

// Its process is gone, but the event of its exec may hold it.
std::optional<OpenedFile> FileOpener::claim(const abi::announcement& announcement) {
    if (!files_->exec_events) return std::nullopt;
    files_->exec_events->collect();
    auto fd = files_->exec_events->claim(announcement.key);
    if (!fd) return std::nullopt;
    files_->note_claimed();
    return OpenedFile{.key = announcement.key,
                      .executable_id = announcement.executable_id,
                      .path = {},
                      .fd = std::move(*fd),
                      .size_bytes = announcement.key.size_bytes,
                      .announced = executable::announced_by(announcement)};
}

}  // namespace bobbin::daemon
