// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "unwind_table/run.h"

namespace bobbin::unwind_table {

// The code that `macro` gives `distance` bytes behind its entry, all starts compared at once as the
// kernel does.
inline std::uint16_t code_at(const abi::macro& macro, std::uint32_t distance) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    const std::uint64_t reached =
        distance < abi::MACRO_MAX_DISTANCE ? distance : std::uint64_t{abi::MACRO_MAX_DISTANCE};
    const std::uint64_t is_reached = ((reached | 0x80) * kOnes - macro.starts) >> 7 & kOnes;
    return macro.codes[(is_reached * kOnes) >> 56];
}

// The macros (bpf_abi.h), shared by all tables and by the kernel: prologues and epilogues are
// idioms of compilers, so a file finds most of its own here already. Any thread; one lock a file,
// none to look.
class MacroDictionary {
public:
    struct IndexedMacro {
        std::uint16_t index = 0;
        abi::macro macro{};
    };

    MacroDictionary();

    // False: no macro says what these runs say, nor begins with it.
    [[nodiscard]] bool may_begin_with(std::uint32_t fingerprint) const {
        const std::uint32_t bit = fingerprint >> (32 - kPrefixBits);
        return ((*prefixes_)[bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0;
    }

    // Fetches what find() looks at first into the cache.
    void prefetch(std::uint32_t fingerprint) const {
        __builtin_prefetch(&(*slots_)[fingerprint >> (32 - kSlotBits)]);
    }

    // Index of the macro that says just what `window` says.
    [[nodiscard]] std::optional<std::uint16_t> find(const RunWindow& window) const {
        const std::uint32_t home = window.fingerprint >> (32 - kSlotBits);
        for (std::uint32_t probe = 0; probe < kMaxProbes; ++probe) {
            const std::uint32_t slot =
                (*slots_)[(home + probe) % kSlotCount].load(std::memory_order_acquire);
            if (slot == 0) {
                return std::nullopt;
            }
            const auto index = static_cast<std::uint16_t>((slot & 0xffff) - 1);
            if (slot >> 16 == (window.fingerprint & 0xffff) && says(macros_[index], window.runs)) {
                return index;
            }
        }
        return std::nullopt;
    }

    // Adds what is not there yet, in this order, up to one file's share of the room (file_share.h).
    void add_of_one_file(std::span<const RunWindow> windows);

    // Macros with index >= `first`, in order, those that were forgotten among them. Stays valid as
    // long as the dictionary.
    [[nodiscard]] std::span<const abi::macro> since(std::size_t first) const;

    // What was added since the last call, under which index.
    [[nodiscard]] std::vector<IndexedMacro> take_added();
    [[nodiscard]] std::size_t live_count() const;
    // Forgets all macros to which `keeps` says no; their indices go to what is added next. Nobody
    // else may use the dictionary meanwhile (SharedRules::forget_unused).
    void keep_only(const std::function<bool(std::uint16_t index)>& keeps);
    // Calls `visit` with each live macro.
    void for_each_live(const std::function<void(const abi::macro&)>& visit) const;

private:
    // A quarter full when all macros are there: looking for one that is not ends at the first slot
    // or the second. The bound on probes is against files made to collide.
    static constexpr unsigned kSlotBits = 17;
    static constexpr std::uint32_t kSlotCount = 1U << kSlotBits;
    static constexpr std::uint32_t kMaxProbes = 32;
    static_assert(kSlotCount == 4 * abi::MAX_MACROS);
    static constexpr unsigned kPrefixBits = 20;  // 128 KiB; a tenth set when all macros are there

    using Slots = std::array<std::atomic<std::uint32_t>, kSlotCount>;
    using Prefixes = std::array<std::atomic<std::uint64_t>, (1U << kPrefixBits) / 64>;

    static bool says(const abi::macro& macro, std::span<const Run> runs);
    [[nodiscard]] std::optional<std::uint32_t> free_slot(std::uint32_t fingerprint) const;
    void list(std::uint32_t slot, std::uint32_t fingerprint, std::uint16_t index);
    void note_prefixes(std::span<const Run> runs);

    // [31:16] low half of the fingerprint  [15:0] index + 1; 0: free
    std::unique_ptr<Slots> slots_;
    std::unique_ptr<Prefixes> prefixes_;  // bits by fingerprint: some macro says so, or begins so
    std::unique_ptr<abi::macro[]> macros_;
    std::vector<bool> live_;              // by index: given out and not forgotten
    std::atomic<std::size_t> count_ = 0;  // indices ever given out
    std::vector<std::uint16_t> free_;     // of these, the forgotten ones
    std::vector<std::uint16_t> added_;    // since take_added()
    mutable std::mutex adding_;
};

inline bool MacroDictionary::says(const abi::macro& macro, std::span<const Run> runs) {
    std::uint64_t starts = macro.starts;
    if (macro.codes[0] != runs[0].code) {
        return false;
    }
    for (std::size_t i = 1; i < runs.size(); ++i, starts >>= 8) {
        if (macro.codes[i] != runs[i].code ||
            (starts & 0xff) != runs[i].offset_from_base - runs[0].offset_from_base) {
            return false;
        }
    }
    return runs.size() == abi::MACRO_CODES || (starts & 0xff) == abi::MACRO_NO_START;
}

}  // namespace bobbin::unwind_table
