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

// What macro_of() was made of.
std::vector<Run> runs_of(const abi::macro& macro) {
    std::vector<Run> runs{{.offset_from_base = 0, .code = macro.codes[0]}};
    std::uint64_t starts = macro.starts;
    for (std::size_t i = 1; i < abi::MACRO_CODES && (starts & 0xff) != abi::MACRO_NO_START; ++i) {
        runs.push_back({.offset_from_base = static_cast<std::uint32_t>(starts & 0xff),
                        .code = macro.codes[i]});
        starts >>= 8;
    }
    return runs;
}

std::uint32_t fingerprint_of(std::span<const Run> runs) {
    RunFingerprint fingerprint(runs[0]);
    for (std::size_t i = 1; i < runs.size(); ++i) fingerprint.extend(runs[i - 1], runs[i]);
    return fingerprint.value();
}

}  // namespace

MacroDictionary::MacroDictionary()
    : slots_(std::make_unique<Slots>()),
      prefixes_(std::make_unique<Prefixes>()),
      macros_(std::make_unique<abi::macro[]>(abi::MAX_MACROS)),
      live_(abi::MAX_MACROS) {}

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

// Whoever sees the slot sees the macro, and that it counts.
void MacroDictionary::list(std::uint32_t slot, std::uint32_t fingerprint, std::uint16_t index) {
    (*slots_)[slot].store((fingerprint & 0xffff) << 16 | (index + 1U), std::memory_order_release);
}

void MacroDictionary::add_of_one_file(std::span<const RunWindow> windows) {
    const std::lock_guard lock(adding_);
    std::size_t count = count_.load(std::memory_order_relaxed);
    std::size_t may_add = share_of_one_file(abi::MAX_MACROS - count + free_.size());
    for (const RunWindow& window : windows) {
        if (may_add == 0) {
            return;
        }
        const std::optional<std::uint32_t> slot = free_slot(window.fingerprint);
        if (!slot || find(window)) {
            continue;
        }
        --may_add;
        std::size_t index = count;
        if (free_.empty()) {
            ++count;
        } else {
            index = free_.back();
            free_.pop_back();
        }
        macros_[index] = macro_of(window.runs);
        live_[index] = true;
        note_prefixes(window.runs);
        count_.store(count, std::memory_order_release);
        list(*slot, window.fingerprint, static_cast<std::uint16_t>(index));
        added_.push_back(static_cast<std::uint16_t>(index));
    }
}

std::vector<MacroDictionary::IndexedMacro> MacroDictionary::take_added() {
    const std::lock_guard lock(adding_);
    std::vector<IndexedMacro> added;
    added.reserve(added_.size());
    for (const std::uint16_t index : added_) added.push_back({index, macros_[index]});
    added_.clear();
    return added;
}

std::size_t MacroDictionary::live_count() const {
    const std::lock_guard lock(adding_);
    return count_.load(std::memory_order_relaxed) - free_.size();
}

void MacroDictionary::for_each_live(const std::function<void(const abi::macro&)>& visit) const {
    const std::lock_guard lock(adding_);
    for (std::size_t index = 0; index < live_.size(); ++index) {
        if (live_[index]) visit(macros_[index]);
    }
}

void MacroDictionary::keep_only(const std::function<bool(std::uint16_t index)>& keeps) {
    const std::lock_guard lock(adding_);
    for (auto& slot : *slots_) slot.store(0, std::memory_order_relaxed);
    for (auto& bits : *prefixes_) bits.store(0, std::memory_order_relaxed);
    for (std::size_t at = 0; at < live_.size(); ++at) {
        if (!live_[at]) continue;
        const auto index = static_cast<std::uint16_t>(at);
        if (!keeps(index)) {
            live_[at] = false;
            free_.push_back(index);
            continue;
        }
        const std::vector<Run> runs = runs_of(macros_[index]);
        const std::uint32_t fingerprint = fingerprint_of(runs);
        note_prefixes(runs);
        // One that finds no slot, for others made to collide, serves its tables all the same.
        if (const auto slot = free_slot(fingerprint)) list(*slot, fingerprint, index);
    }
}

std::span<const abi::macro> MacroDictionary::since(std::size_t first) const {
    const std::size_t count = count_.load(std::memory_order_acquire);
    return {macros_.get() + std::min(first, count), macros_.get() + count};
}

}  // namespace bobbin::unwind_table
