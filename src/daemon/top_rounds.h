// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"
#include "daemon/sampling.h"
#include "daemon/top_names.h"
#include "daemon/top_window.h"
#include "screen/snapshot.h"

namespace bobbin::daemon {

struct TopPace {
    std::chrono::nanoseconds interval = std::chrono::seconds{1};
    std::uint32_t frequency_hz = 0;
    std::uint64_t max_stack_bytes = 0;
};

// Each interval: takes what was counted, adds it to the window, names that and leaves a snapshot to
// be fetched. A thread of its own, so that neither sampling nor the terminal waits for names.
class TopRounds {
public:
    // `sampling` has started and outlives it.
    static Result<std::unique_ptr<TopRounds>> start(const Sampling& sampling, const TopPace& pace);
    TopRounds(const TopRounds&) = delete;
    TopRounds& operator=(const TopRounds&) = delete;
    ~TopRounds() = default;

    // Readable when there is a snapshot that was not fetched.
    [[nodiscard]] int fd() const { return arrived_.get(); }
    // The latest; nullptr: none since the last time.
    std::shared_ptr<const screen::Snapshot> fetch();

    // False: the thread still waits for names, so the process has to end by _Exit.
    bool stop();

private:
    using Clock = std::chrono::steady_clock;

    TopRounds(const Sampling& sampling, const TopPace& pace, UniqueFd arrived)
        : sampling_(sampling),
          pace_(pace),
          names_(sampling),
          window_(kWindow, pace.max_stack_bytes),
          arrived_(std::move(arrived)) {}
    void run(const std::stop_token& stop);
    void make_round(Clock::time_point now);
    void note_cost(std::chrono::nanoseconds bpf_time, screen::Snapshot& snapshot);

    static constexpr std::chrono::seconds kWindow{10};

    struct Cost {
        Clock::time_point at;
        std::chrono::nanoseconds cpu_time{};
    };

    const Sampling& sampling_;
    TopPace pace_;
    TopNames names_;
    TopWindow window_;
    Clock::time_point last_round_;
    std::deque<Cost> costs_;  // of the last kWindow
    UniqueFd arrived_;        // eventfd
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::shared_ptr<const screen::Snapshot> latest_;
    bool has_ended_ = false;
    std::jthread thread_;  // last: joined before the rest goes
};

}  // namespace bobbin::daemon
