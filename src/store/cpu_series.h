// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/cpu_sums.h"
#include "store/store.h"
#include "symbolize/named_profile.h"

namespace bobbin::store {

// Adds up CPU time by step and owner.
class CpuSeries {
public:
    CpuSeries(const Range& range, std::chrono::seconds step, StoreReader::By by);

    // What lies outside of the range is left out. Samples without times are spread over all of
    // their profile.
    void add(const symbolize::NamedProfile& profile);
    // Whether sums say as much as the profile that they are of: their steps are not longer, and lie
    // in the range.
    [[nodiscard]] bool can_add(const CpuSums& sums) const;
    void add(const CpuSums& sums);
    // Most first; beyond `max_series` one more, without a name, of all others.
    [[nodiscard]] std::vector<StoreReader::Series> take(std::size_t max_series) const;

    // Of so many steps a chart is drawn; the last ones of a longer range are left out.
    static constexpr std::size_t kMaxSteps = 10'000;
    // Of more owners the lesser half so far is added up without a name.
    static constexpr std::size_t kMaxOwners = 2'000;

private:
    using Nanoseconds = std::vector<double>;  // by step

    [[nodiscard]] const std::string& owner_of(const symbolize::SampleLabels& labels) const;
    [[nodiscard]] double in_steps(std::chrono::nanoseconds time) const;
    Nanoseconds& steps_of(const std::string& owner);
    void fold_the_lesser_half();
    static void spread(double cpu_ns, double begin, double end, Nanoseconds& steps);

    Range range_;
    std::chrono::nanoseconds step_;
    StoreReader::By by_;
    std::size_t step_count_;
    std::unordered_map<std::string, Nanoseconds> by_owner_;
};

}  // namespace bobbin::store
