// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "bobbin/bpf_abi.h"

namespace bobbin::daemon {

// What became of the walks that the kernel side paused.
struct ResumedWalks {
    std::array<std::uint64_t, abi::WALK_END_COUNT> by_walk_end{};  // those that went on
    std::uint64_t displaced_count = 0;  // given up because others needed the room

    [[nodiscard]] std::uint64_t count() const {
        return std::accumulate(by_walk_end.begin(), by_walk_end.end(), std::uint64_t{0});
    }
};

}  // namespace bobbin::daemon
