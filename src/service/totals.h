// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "bobbin/bpf_abi.h"
#include "service/counter_sums.h"
#include "service/part.h"

namespace bobbin::service {

// What was counted since the service began, whatever recordings replaced each other.
class Totals {
public:
    using WalkEnds = std::array<std::uint64_t, abi::WALK_END_COUNT>;

    // As they are now in the recording that runs.
    void note(const abi::outcome_counters& counters) { running_ = counters; }
    // The next one's begin anew.
    void end_recording() {
        past_ = sum(past_, running_);
        running_ = {};
    }
    void add(const Part& part) { add_walk_ends(part, walk_ends_); }

    [[nodiscard]] abi::outcome_counters counters() const { return sum(past_, running_); }
    [[nodiscard]] const WalkEnds& walk_ends() const { return walk_ends_; }

private:
    abi::outcome_counters past_{};
    abi::outcome_counters running_{};
    WalkEnds walk_ends_{};
};

}  // namespace bobbin::service
