// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/unique_fd.h"

namespace bobbin::daemon {

// How many files are on their way: announced, and neither published nor lost. Any thread.
class PendingFiles {
public:
    PendingFiles();

    void add();
    void finish(std::uint64_t count);

    [[nodiscard]] std::uint64_t count() const;
    // All that ever did.
    [[nodiscard]] std::uint64_t finished_count() const;
    // Readable after each finish(); whoever reads it resets it.
    [[nodiscard]] int finished_fd() const { return finished_fd_.get(); }

    // What was announced may still stand in the ring buffer, where nobody counts it. Who waits asks
    // the opener, who answers when it has read the ring buffer to its end.
    bool wait_until_none(std::chrono::steady_clock::time_point deadline);
    // For the opener: readable when somebody asks, or wake() was called.
    [[nodiscard]] int question_fd() const { return question_fd_.get(); }
    void wake();
    // Takes the questions asked so far; to be handed to answer() after reading.
    std::uint64_t take_questions();
    void answer(std::uint64_t questions);

private:
    UniqueFd finished_fd_;
    UniqueFd question_fd_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t count_ = 0;
    std::uint64_t finished_count_ = 0;
    std::uint64_t questions_asked_ = 0;
    std::uint64_t questions_answered_ = 0;
};

}  // namespace bobbin::daemon
