// SPDX-License-Identifier: Apache-2.0
#include "service/budget.h"

#include <algorithm>
#include <cmath>

namespace bobbin::service {
namespace {

using Seconds = std::chrono::duration<double>;

// Measured over less, one burst of the machine would be taken for the rule.
constexpr std::chrono::seconds kLeastWindow{5};
// The rate rises by a quarter, when that is expected to keep this much of the budget free.
constexpr double kStep = 1.25;
constexpr double kHeadroom = 0.85;
// What was given back needs a while to be seen.
constexpr std::chrono::seconds kPatienceWithMemory{10};

double percent(std::chrono::nanoseconds cpu_time, Seconds wall) {
    return wall.count() > 0 ? 100 * (Seconds{cpu_time} / wall) : 0;
}

void add(std::deque<Usage>& window, const Usage& usage, std::chrono::seconds length) {
    window.push_back(usage);
    while (window.size() > 2 && usage.at - window[1].at >= length) window.pop_front();
}

}  // namespace

void Budget::keep_credit(const Usage& usage) {
    if (sampling_.empty()) return;
    const Usage& before = sampling_.back();
    const Seconds allowed = Seconds{usage.at - before.at} * (limits_.cpu_percent / 100);
    const Seconds used = usage.sampling_cpu_time - before.sampling_cpu_time;
    credit_ = std::clamp(credit_ + allowed - used, Seconds{0}, full_credit());
}

void Budget::measure(const Usage& usage) {
    keep_credit(usage);
    if (changed_ == Clock::time_point{}) changed_ = usage.at;
    add(sampling_, usage, kWindow);
    add(naming_, usage, kNamingWindow);
    // The first segments of a long recording are dear: names are new. So what is not yet a whole
    // window of naming counts as one.
    naming_percent_ = percent(usage.naming_cpu_time - naming_.front().naming_cpu_time,
                              std::max<Seconds>(usage.at - naming_.front().at, kNamingWindow));
    cpu_percent_ =
        naming_percent_ + percent(usage.sampling_cpu_time - sampling_.front().sampling_cpu_time,
                                  usage.at - sampling_.front().at);
}

bool Budget::has_full_window(Clock::time_point now) const {
    return now - sampling_.front().at >= kLeastWindow;
}

void Budget::change_rate(std::uint32_t hz, Clock::time_point now) {
    if (hz == hz_) return;
    hz_ = hz;
    changed_ = now;
    sampling_.erase(sampling_.begin(), sampling_.end() - 1);
}

void Budget::throttle(double factor, Clock::time_point now) {
    const auto lower = static_cast<std::uint32_t>(std::floor(hz_ * factor));
    const std::uint32_t hz = limits_.pauses ? 0 : std::clamp<std::uint32_t>(lower, 1, hz_);
    if (hz < hz_) ++throttle_count_;
    change_rate(hz, now);
}

void Budget::look_at_cpu(Clock::time_point now) {
    if (!has_full_window(now)) return;
    if (cpu_percent_ > limits_.cpu_percent) {
        if (credit_ > Seconds{0} && naming_percent_ <= limits_.cpu_percent) return;
        throttle(limits_.cpu_percent / cpu_percent_, now);
        return;
    }
    if (hz_ >= configured_hz_ || now - changed_ < kPatience || scarce_since_) return;
    const auto higher = std::min<std::uint32_t>(
        configured_hz_, std::max(hz_ + 1, static_cast<std::uint32_t>(std::floor(hz_ * kStep))));
    const double expected = cpu_percent_ * higher / hz_;
    if (expected <= limits_.cpu_percent * kHeadroom) change_rate(higher, now);
}

Budget::Memory Budget::look_at_memory(const Usage& usage) {
    if (usage.memory_bytes <= limits_.memory_bytes) {
        scarce_since_.reset();
        return Memory::kEnough;
    }
    if (!scarce_since_) {
        scarce_since_ = usage.at;
        return Memory::kScarce;
    }
    if (usage.at - *scarce_since_ < kPatienceWithMemory) return Memory::kEnough;
    scarce_since_ = usage.at;
    throttle(0.5, usage.at);
    return Memory::kScarce;
}

Budget::Advice Budget::observe(const Usage& usage, bool is_free) {
    measure(usage);
    if (hz_ == 0) {
        if (usage.at - changed_ >= kPause) change_rate(configured_hz_, usage.at);
        return {.hz = hz_};
    }
    const Memory memory = look_at_memory(usage);
    if (!is_free && hz_ != 0) look_at_cpu(usage.at);
    return {.hz = hz_, .memory = memory};
}

}  // namespace bobbin::service
