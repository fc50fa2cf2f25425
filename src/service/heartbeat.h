// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "service/notify.h"

namespace bobbin::service {

// Tells the service manager that all is well, where it wants to know.
class Heartbeat {
public:
    using Clock = std::chrono::steady_clock;

    // The ring buffer is read ten times a second.
    static constexpr std::chrono::seconds kLongestWithoutReading{10};

    // To be called each second: twice in the manager's time, at least. `read_count`:
    // SampleWalk's, which has to go on.
    void beat(Clock::time_point now, std::uint64_t read_count, bool others_are_well) {
        if (std::exchange(read_count_, read_count) != read_count) read_at_ = now;
        const bool is_well = now - read_at_ < kLongestWithoutReading && others_are_well;
        if (interval_ && is_well) notify_alive();
    }

private:
    std::optional<std::chrono::microseconds> interval_ = watchdog_interval();
    std::uint64_t read_count_ = 0;
    Clock::time_point read_at_ = Clock::now();
};

}  // namespace bobbin::service
