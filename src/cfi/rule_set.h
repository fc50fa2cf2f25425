// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cfi/plain_rule.h"
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
        const std::optional<PlainRule> plain = PlainRule::of(rule);
        return plain ? number_of(*plain) : search(rule);
    }
    std::uint32_t number_of(PlainRule rule) {
        const std::uint32_t number = rule.has_index() ? plain_numbers_[rule.index()] : kNoNumber;
        return number != kNoNumber ? number : search_plain(rule);
    }

    [[nodiscard]] const UnwindRule& operator[](std::uint32_t number) const {
        return rules_[number];
    }
    // Ends the life of the set.
    std::vector<UnwindRule> take() { return std::move(rules_); }

private:
    std::uint32_t search(const UnwindRule& rule);
    std::uint32_t search_plain(PlainRule rule);
    [[nodiscard]] std::size_t slot_of(const UnwindRule& rule) const;
    std::uint32_t add(const UnwindRule& rule, std::size_t slot);
    void grow();

    std::vector<UnwindRule> rules_;
    std::vector<std::uint32_t> plain_numbers_;  // by PlainRule::index(); 99.6 % of all rows
    std::vector<std::uint32_t> slots_;          // number + 1; 0: free. At most half are in use
    unsigned slot_bits_ = 0;                    // there are 2^slot_bits_
};

}  // namespace bobbin::cfi
