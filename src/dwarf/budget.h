// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace bobbin::dwarf {

// What may be spent on one object: DWARF can be made that costs any amount of work a byte. Loops
// over what a file says count their steps here, and the clock is asked every now and then.
class Budget {
public:
    using Clock = std::chrono::steady_clock;

    Budget() = default;  // without end
    explicit Budget(Clock::time_point deadline) : deadline_(deadline) {}

    // False once the time is over.
    bool spend(std::uint64_t steps) {
        unseen_steps_ += steps;
        if (unseen_steps_ >= kStepsBetweenLooks) look();
        return !is_over_;
    }
    bool look() {
        unseen_steps_ = 0;
        is_over_ = is_over_ || Clock::now() >= deadline_;
        return !is_over_;
    }

private:
    static constexpr std::uint64_t kStepsBetweenLooks = 1U << 16;  // 1 to 3 ms

    Clock::time_point deadline_ = Clock::time_point::max();
    std::uint64_t unseen_steps_ = 0;
    bool is_over_ = false;
};

}  // namespace bobbin::dwarf
