// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"
#include "symbolize/named_profile.h"

namespace bobbin::store {

// CPU time of one segment by owner and step: what a chart of days needs of it, without opening it.
struct CpuSums {
    struct Owner {
        std::string name;
        std::vector<std::uint64_t> cpu_us;  // one a step
    };

    // A multiple of `step` since 1970, so that the steps of charts are made of whole ones.
    Time begin;
    std::chrono::seconds step{};
    std::size_t step_count = 0;
    // Most first; last and without a name what has no unit, and the rarest beyond kMaxOwners.
    std::vector<Owner> units;
    std::vector<Owner> processes;

    [[nodiscard]] Time end() const { return begin + static_cast<int>(step_count) * step; }

    static constexpr std::size_t kMaxOwners = 64;
    // Of a segment of up to 5 minutes; of longer ones 12 times as much, and so on.
    static constexpr std::chrono::seconds kStep{5};
    static constexpr std::size_t kMaxSteps = 64;
};

CpuSums sum_cpu(const symbolize::NamedProfile& profile);

// Packed: a minute of 24 units and 37 processes takes 577 bytes.
Result<std::string> encode_cpu_sums(const CpuSums& sums);
inline constexpr std::size_t kMaxPackedSumsBytes = std::size_t{128} << 10;
// Error: damaged, or none.
Result<CpuSums> decode_cpu_sums(std::string_view packed);

}  // namespace bobbin::store
