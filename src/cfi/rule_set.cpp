// SPDX-License-Identifier: Apache-2.0
#include "cfi/rule_set.h"

namespace bobbin::cfi {
namespace {

constexpr unsigned kFirstSlotBits = 10;
// A half-full table of well-mixed keys has runs of about 20 slots at worst.
constexpr std::size_t kMaxProbes = 64;

}  // namespace

RuleSet::RuleSet()
    : plain_numbers_(PlainRule::kIndexes, kNoNumber),
      slots_(std::size_t{1} << kFirstSlotBits),
      slot_bits_(kFirstSlotBits) {
    (void)number_of(UnwindRule{});
}

// Multiplicative hashing: the upper bits of a product are well mixed, and five products that wait
// for nothing cost hardly more than one. Each field is read as it was written; joined into words
// they would be read wider than they were just stored, which stalls the pipeline. The factors are
// fractions of the golden ratio and of the roots of 2, 3, 5 and 7.
std::size_t RuleSet::slot_of(const UnwindRule& rule) const {
    const std::uint64_t kinds = static_cast<std::uint64_t>(rule.cfa) |
                                static_cast<std::uint64_t>(rule.cfa_register) << 8 |
                                static_cast<std::uint64_t>(rule.rbp) << 16 |
                                static_cast<std::uint64_t>(rule.return_address) << 24 |
                                static_cast<std::uint64_t>(rule.signal_frame) << 32 |
                                static_cast<std::uint64_t>(rule.changes_stack) << 40 |
                                static_cast<std::uint64_t>(rule.rbx_words) << 48 |
                                static_cast<std::uint64_t>(rule.enters_landing_pad) << 56;
    const std::uint64_t mixed = kinds * 0x9e3779b97f4a7c15U +
                                static_cast<std::uint32_t>(rule.cfa_offset) * 0x6a09e667f3bcc909U +
                                static_cast<std::uint32_t>(rule.cfa_addend) * 0xbb67ae8584caa73bU +
                                static_cast<std::uint32_t>(rule.rbp_offset) * 0x3c6ef372fe94f82bU +
                                static_cast<std::uint32_t>(rule.ra_offset) * 0xa54ff53a5f1d36f1U;
    return mixed >> (64 - slot_bits_);
}

std::uint32_t RuleSet::search(const UnwindRule& rule) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = slot_of(rule);
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, slot = (slot + 1) & mask) {
        if (slots_[slot] == 0) return add(rule, slot);
        const std::uint32_t number = slots_[slot] - 1;
        if (rules_[number] == rule) return number;
    }
    return kNoNumber;
}

std::uint32_t RuleSet::search_plain(PlainRule rule) {
    const std::uint32_t number = search(rule.to_rule());
    if (rule.has_index()) plain_numbers_[rule.index()] = number;
    return number;
}

std::uint32_t RuleSet::add(const UnwindRule& rule, std::size_t slot) {
    if (rules_.size() == kMaxRules) return kNoNumber;
    rules_.push_back(rule);
    slots_[slot] = static_cast<std::uint32_t>(rules_.size());
    if (rules_.size() * 2 > slots_.size()) grow();
    return static_cast<std::uint32_t>(rules_.size() - 1);
}

void RuleSet::grow() {
    ++slot_bits_;
    slots_.assign(std::size_t{1} << slot_bits_, 0);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t number = 0; number < rules_.size(); ++number) {
        std::size_t slot = slot_of(rules_[number]);
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        slots_[slot] = number + 1;
    }
}

}  // namespace bobbin::cfi
