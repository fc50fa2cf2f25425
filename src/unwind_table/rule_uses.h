// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_table {

// How many tables name each macro and special rule. Any thread.
struct RuleUses {
    std::array<std::atomic<std::uint32_t>, abi::MAX_MACROS> macros{};
    std::array<std::atomic<std::uint32_t>, abi::MAX_SPECIAL_RULES> specials{};
};

// Index of the special rule that a code names, if it names one.
constexpr bool names_special(std::uint32_t code) {
    return (code & abi::CODE_MACRO) == 0 && (code >> abi::CODE_RBP_SLOT_SHIFT &
                                             abi::CODE_RBP_SLOT_MASK) == abi::CODE_RBP_SLOT_SPECIAL;
}
constexpr std::uint16_t special_of_code(std::uint32_t code) {
    const std::uint32_t high = (code & abi::CODE_BASE_RBP) != 0 ? abi::CODE_CFA_WORDS_MASK + 1U : 0;
    return static_cast<std::uint16_t>((code & abi::CODE_CFA_WORDS_MASK) | high);
}

// As long as it lives, what one table names keeps its meaning.
class HeldRules {
public:
    // `entries`: the table's words but for links.
    HeldRules(std::shared_ptr<RuleUses> uses, std::span<const std::uint32_t> entries);
    ~HeldRules();
    HeldRules(const HeldRules&) = delete;
    HeldRules& operator=(const HeldRules&) = delete;

private:
    std::shared_ptr<RuleUses> uses_;
    std::vector<std::uint16_t> macros_;
    std::vector<std::uint16_t> specials_;
};

}  // namespace bobbin::unwind_table
