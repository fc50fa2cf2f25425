// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_feed {

// When each executable was last met in a stack, and how often of late. The sample walk notes, the
// feed asks: any thread. What two threads note at once may count as one.
class LastSampled {
public:
    // Samples that met the executable, in sixteenths; each 8 s halves what was before.
    static constexpr std::uint32_t kHeatOfOneSample = 16;

    struct Use {
        std::chrono::nanoseconds last{};  // CLOCK_MONOTONIC, to a sixteenth of a second; 0: never
        std::uint64_t heat = 0;
    };

    LastSampled();

    // The user frames of one sample, which was taken at `when`. 1 ns a frame where few neighbours
    // lie in different files, 3 where all do.
    void note(std::span<const abi::frame_word> frames, std::chrono::nanoseconds when);

    // The next file in the place of this one has not been sampled yet.
    void forget(std::uint32_t executable_id);

    [[nodiscard]] Use of(std::uint32_t executable_id, std::chrono::nanoseconds now) const;

private:
    void note_one(std::uint32_t executable_id, std::uint32_t now);

    // By id % MAX_EXECUTABLES: [63:32] time in 1/16 s  [31:0] heat as of then
    using Packed = std::array<std::atomic<std::uint64_t>, abi::MAX_EXECUTABLES>;
    std::unique_ptr<Packed> uses_;
};

}  // namespace bobbin::unwind_feed
