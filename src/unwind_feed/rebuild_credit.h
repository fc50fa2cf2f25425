// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace bobbin::unwind_feed {

// CPU time that building tables again may take: 1 % of one CPU, in the long run. The last to be
// built may be dearer than what is left; then nothing is, until the debt is worked off. So a
// working set larger than the budget costs that much, and not a build for each sample.
class RebuildCredit {
public:
    [[nodiscard]] bool is_left(std::chrono::nanoseconds now) {
        if (last_ != std::chrono::nanoseconds{}) {
            credit_ = std::min(kMost, credit_ + (now - last_) / kPartOfTime);
        }
        last_ = now;
        return credit_ > std::chrono::nanoseconds{};
    }
    void spend(std::chrono::nanoseconds cost) { credit_ -= cost; }

private:
    static constexpr int kPartOfTime = 100;
    static constexpr std::chrono::nanoseconds kMost = std::chrono::milliseconds{200};

    std::chrono::nanoseconds credit_ = kMost;
    std::chrono::nanoseconds last_{};
};

}  // namespace bobbin::unwind_feed
