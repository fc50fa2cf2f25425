// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/macro_dictionary.h"

#include <algorithm>
#include <cassert>

#include "unwind_table/file_share.h"

namespace bobbin::unwind_table {
namespace {

abi::macro macro_of(std::span<const Run> runs) {
    assert(runs.size() >= 2 && runs.size() <= abi::MACRO_CODES);
    abi::macro macro{};
    for (std::size_t i = 0; i < abi::MACRO_CODES; ++i) {
        macro.codes[i] = i < runs.size() ? runs[i].code : runs.back().code;
    }
    for (std::size_t i = abi::MACRO_STARTS; i > 0; --i) {
        const std::uint32_t start = i < runs.size()
                                        ? runs[i].offset_from_base - runs[0].offset_from_base
                                        : std::uint32_t{abi::MACRO_NO_START};
        assert(i >= runs.size() || start <= abi::MACRO_MAX_DISTANCE);
        macro.starts = macro.starts << 8 | start;
    }
    return macro;
}

}  // namespace

MacroDictionary::MacroDictionary()
    : slots_(std::make_unique<Slots>()),
      prefixes_(std::make_unique<Prefixes>()),
      macros_(std::make_unique<abi::macro[]>(abi::MAX_MACROS)) {}

std::optional<std::uint32_t> MacroDictionary::free_slot(std::uint32_t fingerprint) const {
    const std::uint32_t home = fingerprint >> (32 - kSlotBits);
    for (std::uint32_t probe = 0; probe < kMaxProbes; ++probe) {
        const std::uint32_t slot = (home + probe) % kSlotCount;
        if ((*slots_)[slot].load(std::memory_order_relaxed) == 0) {
            return slot;
        }
    }
    return std::nullopt;
}

void MacroDictionary::note_prefixes(std::span<const Run> runs) {
    RunFingerprint fingerprint(runs[0]);
    for (std::size_t i = 1; i < runs.size(); ++i) {
        fingerprint.extend(runs[i - 1], runs[i]);
        const std::uint32_t bit = fingerprint.value() >> (32 - kPrefixBits);
        (*prefixes_)[bit / 64].fetch_or(std::uint64_t{1} << bit % 64, std::memory_order_relaxed);
    }
}

void MacroDictionary::add_of_one_file(std::span<const RunWindow> windows) {
    const std::lock_guard lock(adding_);
    std::size_t count = count_.load(std::memory_order_relaxed);
    const std::size_t limit = count + share_of_one_file(abi::MAX_MACROS - count);
    for (const RunWindow& window : windows) {
        if (count == limit) {
            return;
        }
        const std::optional<std::uint32_t> slot = free_slot(window.fingerprint);
        if (!slot || find(window)) {
            continue;
        }
        macros_[count] = macro_of(window.runs);
        ++count;
        note_prefixes(window.runs);
        // Whoever sees the slot sees the macro and that it counts. `count` is now index + 1.
        count_.store(count, std::memory_order_release);
        (*slots_)[*slot].store(
            (window.fingerprint & 0xffff) << 16 | static_cast<std::uint32_t>(count),
            std::memory_order_release);
    }
}

std::span<const abi::macro> MacroDictionary::since(std::size_t first) const {
    const std::size_t count = count_.load(std::memory_order_acquire);
    return {macros_.get() + std::min(first, count), macros_.get() + count};
}

}  // namespace bobbin::unwind_table
