// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace bobbin::unwind_table {

// From base_file_offset + offset_from_base up to the next run, `code` holds.
struct Run {
    std::uint32_t offset_from_base = 0;
    std::uint16_t code = 0;
};

// Fingerprint of neighbouring runs: of their codes and of the distances between them, not of where
// the first one begins. Polynomial modulo 2^64, of which only the upper half is well mixed.
class RunFingerprint {
public:
    explicit RunFingerprint(const Run& first) : state_(first.code * kFactor) {}

    void extend(const Run& previous, const Run& next) {
        const std::uint32_t distance = next.offset_from_base - previous.offset_from_base;
        state_ = (state_ + (distance << 16 | next.code) + 1) * kFactor;
    }
    [[nodiscard]] std::uint32_t value() const { return static_cast<std::uint32_t>(state_ >> 32); }

private:
    static constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
    std::uint64_t state_;
};

// Two to MACRO_CODES neighbouring runs, the last beginning at most MACRO_MAX_DISTANCE behind the
// first: what a macro can say.
struct RunWindow {
    std::span<const Run> runs;
    std::uint32_t fingerprint = 0;
};

}  // namespace bobbin::unwind_table
