// SPDX-License-Identifier: Apache-2.0
#include "service/rate_wishes.h"

#include <algorithm>

namespace bobbin::service {

std::uint32_t RateWishes::hz(Clock::time_point now) const {
    if (is_killed_ || is_paused_) return 0;
    if (is_boosted(now)) return boost_->hz;
    return std::min(configured_hz_, budget_hz_);
}

std::string RateWishes::paused_why() const {
    if (is_killed_) return "the kill switch is on";
    if (is_paused_) return "paused by bobbin ctl";
    if (budget_hz_ == 0) return "over budget";
    return {};
}

}  // namespace bobbin::service
