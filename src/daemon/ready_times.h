// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "executable/open_file.h"

namespace bobbin::daemon {

// How long files took from their announcement to the moment at which the kernel side could walk
// through them: apart for those announced by the start of a program and those that a sample met.
// Any thread.
class ReadyTimes {
public:
    // What was announced before sampling began is left out: nobody waited for it.
    void note(const executable::Announced& announced, std::chrono::nanoseconds now);

    // "ready after exec: 120 files, median 2.1 ms, 99 % within 14.3 ms; after a sample: none". The
    // figures are upper limits, by at most an eighth.
    [[nodiscard]] std::string describe() const;

private:
    static constexpr unsigned kSubBits = 3;  // eight parts an octave
    static constexpr std::size_t kBuckets = std::size_t{64} << kSubBits;
    struct Histogram {
        std::array<std::uint32_t, kBuckets> counts{};
        std::uint64_t total = 0;

        [[nodiscard]] std::chrono::nanoseconds within(double share) const;
    };
    static std::size_t bucket_of(std::uint64_t ns);
    static std::uint64_t end_of(std::size_t bucket);
    static std::string describe(const Histogram& histogram);

    mutable std::mutex mutex_;
    Histogram after_exec_;
    Histogram after_sample_;
};

}  // namespace bobbin::daemon
