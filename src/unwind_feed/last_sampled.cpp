// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/last_sampled.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace bobbin::unwind_feed {
namespace {

using Sixteenths = std::chrono::duration<std::uint64_t, std::ratio<1, 16>>;
constexpr unsigned kHalfLifeShift = 7;  // 2^7 sixteenths: 8 s
// A stack touches 2 to 5 modules. One that goes to and fro between more counts some of them twice.
constexpr std::size_t kDistinctKept = 8;

std::uint32_t sixteenths(std::chrono::nanoseconds time) {
    return static_cast<std::uint32_t>(std::chrono::duration_cast<Sixteenths>(time).count());
}

std::uint64_t cool(std::uint32_t heat, std::uint32_t since, std::uint32_t now) {
    if (now <= since) return heat;
    const std::uint32_t halvings = (now >> kHalfLifeShift) - (since >> kHalfLifeShift);
    return halvings < 32 ? heat >> halvings : 0;
}

}  // namespace

LastSampled::LastSampled() : uses_(std::make_unique<Packed>()) {}

void LastSampled::note_one(std::uint32_t executable_id, std::uint32_t now) {
    std::atomic<std::uint64_t>& use = (*uses_)[executable_id % abi::MAX_EXECUTABLES];
    const std::uint64_t before = use.load(std::memory_order_relaxed);
    const auto since = static_cast<std::uint32_t>(before >> 32);
    const std::uint64_t heat = std::min<std::uint64_t>(
        cool(static_cast<std::uint32_t>(before), since, now) + kHeatOfOneSample,
        std::numeric_limits<std::uint32_t>::max());
    use.store(std::uint64_t{std::max(since, now)} << 32 | heat, std::memory_order_relaxed);
}

void LastSampled::note(std::span<const abi::frame_word> frames, std::chrono::nanoseconds when) {
    std::array<std::uint32_t, kDistinctKept> met{};
    std::size_t met_count = 0;
    std::uint32_t previous = 0;
    for (const abi::frame_word frame : frames) {
        if ((frame & FRAME_IS_ANONYMOUS) != 0) continue;
        const auto id =
            static_cast<std::uint32_t>(frame >> FRAME_EXECUTABLE_SHIFT & FRAME_EXECUTABLE_MASK);
        if (id == previous) continue;
        previous = id;
        const auto known = std::span(met).first(std::min(met_count, met.size()));
        if (std::ranges::find(known, id) != known.end()) continue;
        met.at(met_count++ % met.size()) = id;
        note_one(id, sixteenths(when));
    }
}

void LastSampled::forget(std::uint32_t executable_id) {
    (*uses_)[executable_id % abi::MAX_EXECUTABLES].store(0, std::memory_order_relaxed);
}

LastSampled::Use LastSampled::of(std::uint32_t executable_id, std::chrono::nanoseconds now) const {
    const std::uint64_t use =
        (*uses_)[executable_id % abi::MAX_EXECUTABLES].load(std::memory_order_relaxed);
    const auto since = static_cast<std::uint32_t>(use >> 32);
    return {.last = std::chrono::duration_cast<std::chrono::nanoseconds>(Sixteenths{since}),
            .heat = cool(static_cast<std::uint32_t>(use), since, sixteenths(now))};
}

}  // namespace bobbin::unwind_feed
