// SPDX-License-Identifier: Apache-2.0
#include "daemon/pending_files.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace bobbin::daemon {
namespace {

// Fails only when the counter is full, and then it is readable anyway.
void signal_eventfd(int fd) {
    const std::uint64_t one = 1;
    (void)!::write(fd, &one, sizeof(one));
}

}  // namespace

PendingFiles::PendingFiles()
    : finished_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      question_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void PendingFiles::add() {
    const std::scoped_lock lock(mutex_);
    ++count_;
}

void PendingFiles::finish(std::uint64_t count) {
    {
        const std::scoped_lock lock(mutex_);
        count_ -= count;
        finished_count_ += count;
    }
    changed_.notify_all();
    signal_eventfd(finished_fd_.get());
}

std::uint64_t PendingFiles::count() const {
    const std::scoped_lock lock(mutex_);
    return count_;
}

std::uint64_t PendingFiles::finished_count() const {
    const std::scoped_lock lock(mutex_);
    return finished_count_;
}

bool PendingFiles::wait_until_none(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    const std::uint64_t question = ++questions_asked_;
    wake();
    return changed_.wait_until(lock, deadline, [this, question] {
        return count_ == 0 && questions_answered_ >= question;
    });
}

void PendingFiles::wake() { signal_eventfd(question_fd_.get()); }

std::uint64_t PendingFiles::take_questions() {
    std::uint64_t count = 0;
    (void)!::read(question_fd_.get(), &count, sizeof(count));
    const std::scoped_lock lock(mutex_);
    return questions_asked_;
}

void PendingFiles::answer(std::uint64_t questions) {
    {
        const std::scoped_lock lock(mutex_);
        if (questions == questions_answered_) return;
        questions_answered_ = questions;
    }
    changed_.notify_all();
}

}  // namespace bobbin::daemon
