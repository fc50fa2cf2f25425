// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <random>
#include <string>

namespace bobbin::push {

// When a target is sent to next. Waits are random within bounds, so that machines that were started
// together, or lost their target together, do not come back together.
class SendSchedule {
public:
    using Wait = std::chrono::milliseconds;
    struct Limits {
        Wait interval = std::chrono::minutes{1};  // and up to a fifth more or less
        Wait least_retry = std::chrono::seconds{1};
        Wait most_retry = std::chrono::minutes{5};
        // What a target may ask for; one that errs does not silence us for good.
        Wait most_asked_for = std::chrono::hours{1};
    };

    SendSchedule(const Limits& limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

    // All that there was has been sent.
    Wait after_round();
    // Twice as long with each failure in a row, of which at least half is waited; what the target
    // asked for, and up to a tenth more, where it did.
    Wait after_failure(std::optional<Wait> asked_for);
    void note_success() { failure_count_ = 0; }

private:
    Wait between(Wait least, Wait most);

    Limits limits_;
    std::mt19937_64 random_;
    unsigned failure_count_ = 0;
};

// Retry-After: seconds, or a date (RFC 9110 section 10.2.3); nullopt: neither.
std::optional<SendSchedule::Wait> parse_retry_after(const std::string& text,
                                                    std::chrono::system_clock::time_point now);

}  // namespace bobbin::push
