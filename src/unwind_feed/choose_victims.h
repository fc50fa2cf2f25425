// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "unwind_feed/word_pool.h"

namespace bobbin::unwind_feed {

// A table that may have to leave.
struct Occupant {
    std::uint32_t executable_id = 0;
    std::uint32_t first_word = 0;
    std::size_t word_count = 0;
    std::chrono::nanoseconds last_used{};
    std::uint64_t heat = 0;  // LastSampled
};

struct Newcomer {
    std::size_t word_count = 0;
    std::uint64_t heat = 0;
};

// Not sampled for so long: may leave for anybody.
constexpr std::chrono::nanoseconds kColdAfter = std::chrono::seconds{3};
// What was never sampled at all, for most of what runs never is: this long after it was published.
constexpr std::chrono::nanoseconds kNewFor = std::chrono::seconds{2};

// Which tables leave so that the newcomer finds room; nullopt: none that it may push out would do.
//   cold ones   least recently sampled first, and on until an eighth of the pool is free: leaving
//               costs a grace period, so it is done in batches
//   others      only for a newcomer that has been sampled twice as often, of late, as all that it
//               pushes out together: of two equal sets one stays, instead of both going to and fro
std::optional<std::vector<Occupant>> choose_victims(const WordPool& pool,
                                                    std::span<const Occupant> occupants,
                                                    const Newcomer& newcomer,
                                                    std::chrono::nanoseconds now);

}  // namespace bobbin::unwind_feed
