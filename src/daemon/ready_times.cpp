// SPDX-License-Identifier: Apache-2.0
#include "daemon/ready_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "bobbin/bpf_abi.h"

namespace bobbin::daemon {

// Below 2^kSubBits a number is its own bucket; from there on the bits behind the highest one say
// which part of its octave.
std::size_t ReadyTimes::bucket_of(std::uint64_t ns) {
    const auto width = static_cast<unsigned>(std::bit_width(ns));
    if (width <= kSubBits) return ns;
    const unsigned shift = width - 1 - kSubBits;
    return (std::size_t{shift} << kSubBits) + (ns >> shift);
}

std::uint64_t ReadyTimes::end_of(std::size_t bucket) {
    if (bucket < 1U << kSubBits) return bucket + 1;
    const auto shift = static_cast<unsigned>(bucket >> kSubBits) - 1;
    return (bucket - (std::size_t{shift} << kSubBits) + 1) << shift;
}

std::chrono::nanoseconds ReadyTimes::Histogram::within(double share) const {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(total)));
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    for (; bucket < counts.size(); ++bucket) {
        seen += counts.at(bucket);
        if (seen >= wanted && seen > 0) break;
    }
    return std::chrono::nanoseconds{end_of(bucket)};
}

void ReadyTimes::note(const executable::Announced& announced, std::chrono::nanoseconds now) {
    const bool by_exec = announced.reason == abi::ANNOUNCED_BY_EXEC;
    if (announced.time_ns == 0 || (!by_exec && announced.reason != abi::ANNOUNCED_BY_SAMPLE)) {
        return;
    }
    const auto now_ns = static_cast<std::uint64_t>(now.count());
    const std::uint64_t passed_ns = now_ns > announced.time_ns ? now_ns - announced.time_ns : 0;
    const std::scoped_lock lock(mutex_);
    Histogram& histogram = by_exec ? after_exec_ : after_sample_;
    ++histogram.counts.at(bucket_of(passed_ns));
    ++histogram.total;
}

std::string ReadyTimes::describe(const Histogram& histogram) {
    if (histogram.total == 0) return "none";
    using Milliseconds = std::chrono::duration<double, std::milli>;
    return fmt::format("{} files, median {:.2f} ms, 99 % within {:.2f} ms", histogram.total,
                       Milliseconds(histogram.within(0.5)).count(),
                       Milliseconds(histogram.within(0.99)).count());
}

std::string ReadyTimes::describe() const {
    const std::scoped_lock lock(mutex_);
    return fmt::format("ready after exec: {}; after a sample: {}", describe(after_exec_),
                       describe(after_sample_));
}

}  // namespace bobbin::daemon
