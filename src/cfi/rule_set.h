// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cfi/unwind_row.h"

namespace bobbin::cfi {

// The distinct rules of one section, numbered as they come; number 0 is "no CFI". Open
// addressing, since this is asked once a row.
class RuleSet {
public:
    // libxul, the richest file known, has 1,332.
    static constexpr std::size_t kMaxRules = 65536;

    RuleSet();

    static constexpr std::uint32_t kNoNumber = 0xffffffff;

    // The number of `rule`. kNoNumber: the set is full, or so many rules hash alike that the bytes
    // were made to do that; probing is bounded lest such a file cost quadratic time. (Not an
    // optional: g++ 12 returns one through memory at five times the cost.)
    std::uint32_t number_of(const UnwindRule& rule) {
        const std::size_t place = plain_place(rule);
        if (place == kNotPlain) return search(rule);
        if (plain_numbers_[place] == kNoNumber) plain_numbers_[place] = search(rule);
        return plain_numbers_[place];
    }

    [[nodiscard]] const UnwindRule& operator[](std::uint32_t number) const {
        return rules_[number];
    }
    // Ends the life of the set.
    std::vector<UnwindRule> take() { return std::move(rules_); }

private:
    // Rules of the commonest shape, 99.7 % of all rows, are found without hashing: the CFA is rsp
    // or rbp plus 8 to 2040, the return address stands below it, and rbp is unchanged or in one of
    // the five words below that.
    static constexpr std::size_t kPlainWords = 256;
    static constexpr std::size_t kPlainSlots = 8;
    static constexpr std::size_t kNotPlain = 2 * kPlainSlots * kPlainWords;

    static std::size_t plain_place(const UnwindRule& rule) {
        const auto words = static_cast<std::uint32_t>(rule.cfa_offset) / 8;
        const auto slot = static_cast<std::uint32_t>(-rule.rbp_offset) / 8;  // 0: unchanged
        const bool by_rbp = rule.cfa_register == kRbp;
        const bool plain = rule.cfa == CfaKind::kRegisterOffset &&
                           (by_rbp || rule.cfa_register == kRsp) && rule.cfa_offset % 8 == 0 &&
                           words < kPlainWords && !rule.signal_frame && !rule.changes_stack &&
                           rule.return_address == ReturnAddressKind::kAtCfa &&
                           rule.ra_offset == -8 && rule.rbp_offset % 8 == 0 && slot < kPlainSlots &&
                           rule.rbp == (slot == 0 ? RbpKind::kSame : RbpKind::kAtCfa);
        if (!plain) return kNotPlain;
        return ((by_rbp ? kPlainSlots : 0) + slot) * kPlainWords + words;
    }

    std::uint32_t search(const UnwindRule& rule);
    [[nodiscard]] std::size_t slot_of(const UnwindRule& rule) const;
    std::uint32_t add(const UnwindRule& rule, std::size_t slot);
    void grow();

    std::vector<UnwindRule> rules_;
    std::vector<std::uint32_t> plain_numbers_;
    std::vector<std::uint32_t> slots_;  // number + 1; 0: free. At most half are in use
    unsigned slot_bits_ = 0;            // there are 2^slot_bits_
};

}  // namespace bobbin::cfi
