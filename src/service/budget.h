// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace bobbin::service {

// What was used so far, as of one moment.
struct Usage {
    std::chrono::steady_clock::time_point at;
    std::chrono::nanoseconds sampling_cpu_time{};  // reader, kernel side, all that goes on steadily
    std::chrono::nanoseconds naming_cpu_time{};    // comes in bursts, one a segment
    std::uint64_t memory_bytes = 0;
};

// Says at which rate the service keeps to its budget, from what it measures each second. The rate
// falls in proportion and rises again in small steps: each change begins the measurement anew.
// Pure.
class Budget {
public:
    struct Limits {
        double cpu_percent = 100;  // of one CPU
        std::uint64_t memory_bytes = UINT64_MAX;
        bool pauses = false;  // instead of sampling less often
    };

    // Sampling is measured over this, naming over kNamingWindow: 0.2 s once a minute are 0.3 %.
    static constexpr std::chrono::seconds kWindow{10};
    static constexpr std::chrono::seconds kNamingWindow{600};
    // What was left of the budget in this time may be used at once: the tables of a compiler that
    // runs for the first time take 0.3 s.
    static constexpr std::chrono::seconds kCredit{60};
    // A rate that just fell is kept for this long before it is raised.
    static constexpr std::chrono::seconds kPatience{30};
    static constexpr std::chrono::seconds kPause{300};

    Budget(const Limits& limits, std::uint32_t configured_hz)
        : limits_(limits),
          configured_hz_(configured_hz),
          hz_(configured_hz),
          credit_(full_credit()) {}

    // Measures anew.
    void configure(const Limits& limits, std::uint32_t configured_hz) {
        const std::uint64_t throttle_count = throttle_count_;
        *this = Budget(limits, configured_hz);
        throttle_count_ = throttle_count;
    }

    enum class Memory { kEnough, kScarce };
    struct Advice {
        std::uint32_t hz = 0;  // 0: pause
        // kScarce: caches are to be given back and the segment is to be closed.
        Memory memory = Memory::kEnough;
    };
    // `is_free`: somebody asked for another rate; CPU time is then not held against it.
    Advice observe(const Usage& usage, bool is_free = false);

    // Of one CPU, as far as it could be measured.
    [[nodiscard]] double cpu_percent() const { return cpu_percent_; }
    [[nodiscard]] std::uint64_t throttle_count() const { return throttle_count_; }
    [[nodiscard]] std::uint32_t hz() const { return hz_; }

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] std::chrono::duration<double> full_credit() const {
        return kCredit * (limits_.cpu_percent / 100);
    }
    void measure(const Usage& usage);
    void keep_credit(const Usage& usage);
    void change_rate(std::uint32_t hz, Clock::time_point now);
    void throttle(double factor, Clock::time_point now);
    void look_at_cpu(Clock::time_point now);
    Memory look_at_memory(const Usage& usage);
    [[nodiscard]] bool has_full_window(Clock::time_point now) const;

    Limits limits_;
    std::uint32_t configured_hz_;
    std::uint32_t hz_;
    std::chrono::duration<double> credit_;  // of CPU time
    double naming_percent_ = 0;
    double cpu_percent_ = 0;  // with naming
    std::uint64_t throttle_count_ = 0;
    std::deque<Usage> sampling_;  // of the last kWindow, since the last change
    std::deque<Usage> naming_;    // of the last kNamingWindow
    Clock::time_point changed_;
    std::optional<Clock::time_point> scarce_since_;
};

}  // namespace bobbin::service
