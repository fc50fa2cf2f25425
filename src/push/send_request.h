// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "push/send_schedule.h"
#include "push/target.h"

namespace bobbin::push {

struct Deadlines {
    std::chrono::milliseconds connect = std::chrono::seconds{5};
    std::chrono::milliseconds whole = std::chrono::seconds{30};
};

// What became of one attempt.
struct Attempt {
    enum class Outcome {
        kTaken,
        kRefused,  // and would be again: a status 4xx other than 408 and 429, or 3xx
        kLater,    // no answer, 408, 429, 5xx, or what allows it (a file) could not be read
    };
    Outcome outcome = Outcome::kTaken;
    std::string why;                              // where it was not taken
    std::optional<SendSchedule::Wait> asked_for;  // Retry-After
};

// Waits for the answer, on the calling thread, or for `stop`. The files with what allows it are
// read each time, so that they may change.
Attempt send_request(const Target& target, const Request& request, const Deadlines& deadlines,
                     const std::stop_token& stop);

}  // namespace bobbin::push
