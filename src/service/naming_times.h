// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace bobbin::service {

// How long the names of segments took, as a histogram.
struct NamingTimes {
    // Upper bounds, in seconds; what took longer stands in `count` alone.
    static constexpr std::array<double, 8> kBounds{0.1, 0.3, 1, 3, 10, 30, 100, 300};

    std::array<std::uint64_t, kBounds.size()> count_up_to{};  // each bound, those below it included
    std::uint64_t count = 0;
    std::chrono::duration<double> sum{};

    void add(std::chrono::duration<double> time) {
        for (std::size_t i = 0; i < kBounds.size(); ++i) {
            if (time.count() <= kBounds.at(i)) ++count_up_to.at(i);
        }
        ++count;
        sum += time;
    }
};

}  // namespace bobbin::service
