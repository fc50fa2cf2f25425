// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bobbin::unwind_table {

// How often a file uses each window of runs that no macro says yet. Windows are told apart by
// fingerprint and length alone: taking two for one can cost a macro, never a wrong rule.
class WindowUses {
public:
    struct Use {
        std::uint32_t fingerprint = 0;
        std::uint32_t first_run = 0;  // of where it was met first
        std::uint32_t run_count = 0;
        std::uint32_t uses = 0;  // 0: a free slot
    };

    explicit WindowUses(std::size_t expected_windows)
        : mask_(std::bit_ceil(expected_windows + 1) - 1), slots_(mask_ + 1) {}

    void prefetch(std::uint32_t fingerprint) const {
        __builtin_prefetch(&slots_[fingerprint & mask_]);
    }

    void count(std::uint32_t fingerprint, std::uint32_t first_run, std::uint32_t run_count) {
        if (Use* const use = find(fingerprint, run_count)) {
            if (use->uses == 0) {
                *use = {fingerprint, first_run, run_count, 0};
            }
            ++use->uses;
        }
    }
    [[nodiscard]] std::uint32_t uses_of(std::uint32_t fingerprint, std::uint32_t run_count) {
        const Use* const use = find(fingerprint, run_count);
        return use == nullptr ? 0 : use->uses;
    }

    // Free slots among them.
    [[nodiscard]] std::span<const Use> slots() const { return slots_; }

private:
    // Open addressing. The bound is against files made to collide: what finds no slot stays
    // uncounted.
    Use* find(std::uint32_t fingerprint, std::uint32_t run_count) {
        constexpr std::size_t kMaxProbes = 16;
        for (std::size_t probe = 0; probe < kMaxProbes; ++probe) {
            Use& use = slots_[(fingerprint + probe) & mask_];
            if (use.uses == 0 || (use.fingerprint == fingerprint && use.run_count == run_count)) {
                return &use;
            }
        }
        return nullptr;
    }

    std::size_t mask_;
    std::vector<Use> slots_;
};

}  // namespace bobbin::unwind_table
