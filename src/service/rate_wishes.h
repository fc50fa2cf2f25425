// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace bobbin::service {

// Who wants which rate: the configuration, the budget, whoever boosts or pauses. Pure.
class RateWishes {
public:
    using Clock = std::chrono::steady_clock;

    explicit RateWishes(std::uint32_t configured_hz)
        : configured_hz_(configured_hz), budget_hz_(configured_hz) {}

    void configure(std::uint32_t hz) { configured_hz_ = budget_hz_ = hz; }
    void allow(std::uint32_t budget_hz) { budget_hz_ = budget_hz; }
    void boost(std::uint32_t hz, Clock::time_point until) { boost_ = Boost{hz, until}; }
    void pause(bool is_paused) { is_paused_ = is_paused; }
    void kill(bool is_killed) { is_killed_ = is_killed; }

    [[nodiscard]] bool is_killed() const { return is_killed_; }
    [[nodiscard]] std::uint32_t configured_hz() const { return configured_hz_; }
    [[nodiscard]] bool is_boosted(Clock::time_point now) const {
        return boost_ && now < boost_->until;
    }
    // 0: not at all. A boost was asked for by somebody, for a while: it goes before the budget.
    [[nodiscard]] std::uint32_t hz(Clock::time_point now) const;
    // Empty: samples are taken.
    [[nodiscard]] std::string paused_why() const;

private:
    struct Boost {
        std::uint32_t hz = 0;
        Clock::time_point until;
    };
    std::uint32_t configured_hz_;
    std::uint32_t budget_hz_;
    std::optional<Boost> boost_;
    bool is_paused_ = false;
    bool is_killed_ = false;
};

}  // namespace bobbin::service
