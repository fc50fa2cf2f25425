// SPDX-License-Identifier: Apache-2.0
#include "push/send_schedule.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace bobbin::push {

using Wait = SendSchedule::Wait;

Wait SendSchedule::between(Wait least, Wait most) {
    std::uniform_int_distribution<Wait::rep> range(least.count(), std::max(least, most).count());
    return Wait(range(random_));
}

Wait SendSchedule::after_round() {
    return between(limits_.interval - limits_.interval / 5,
                   limits_.interval + limits_.interval / 5);
}

Wait SendSchedule::after_failure(std::optional<Wait> asked_for) {
    Wait wait = limits_.least_retry;
    for (unsigned i = 0; i < failure_count_ && wait < limits_.most_retry; ++i) wait *= 2;
    wait = std::min(wait, limits_.most_retry);
    ++failure_count_;
    if (!asked_for) return between(wait / 2, wait);
    const Wait asked = std::clamp(*asked_for, Wait{0}, limits_.most_asked_for);
    return between(asked, asked + asked / 10);
}

std::optional<Wait> parse_retry_after(const std::string& text,
                                      std::chrono::system_clock::time_point now) {
    std::uint32_t seconds = 0;
    const char* const text_end = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), text_end, seconds);
    if (problem == std::errc{} && end == text_end) return std::chrono::seconds{seconds};
    // Knows the three forms of a date that RFC 9110 section 5.6.7 asks readers to know.
    const std::time_t time = ::curl_getdate(text.c_str(), nullptr);
    if (time == -1) return std::nullopt;
    const auto left = std::chrono::system_clock::from_time_t(time) - now;
    return std::max(Wait{0}, std::chrono::ceil<Wait>(left));
}

}  // namespace bobbin::push
