// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/shared_rules.h"

#include <bitset>
#include <mutex>
#include <utility>

namespace bobbin::unwind_table {

HeldRules::HeldRules(std::shared_ptr<RuleUses> uses, std::span<const std::uint32_t> entries)
    : uses_(std::move(uses)) {
    std::bitset<abi::MAX_MACROS> macros;
    std::bitset<abi::MAX_SPECIAL_RULES> specials;
    for (const std::uint32_t entry : entries) {
        const std::uint32_t code = entry & 0xffff;
        if ((code & abi::CODE_MACRO) != 0) {
            macros.set(code & ~std::uint32_t{abi::CODE_MACRO});
        } else if (names_special(code)) {
            specials.set(special_of_code(code));
        }
    }
    macros_.reserve(macros.count());
    for (std::size_t i = 0; i < macros.size(); ++i) {
        if (!macros[i]) continue;
        macros_.push_back(static_cast<std::uint16_t>(i));
        ++uses_->macros[i];
    }
    specials_.reserve(specials.count());
    for (std::size_t i = 0; i < specials.size(); ++i) {
        if (!specials[i]) continue;
        specials_.push_back(static_cast<std::uint16_t>(i));
        ++uses_->specials[i];
    }
}

HeldRules::~HeldRules() {
    for (const std::uint16_t index : macros_) --uses_->macros[index];
    for (const std::uint16_t index : specials_) --uses_->specials[index];
}

bool SharedRules::forget_unused() {
    const std::unique_lock nobody_builds(building, std::try_to_lock);
    if (!nobody_builds) return false;
    macros.keep_only([this](std::uint16_t index) { return uses_->macros[index] != 0; });
    std::bitset<abi::MAX_SPECIAL_RULES> in_macros;
    macros.for_each_live([&in_macros](const abi::macro& macro) {
        for (const std::uint16_t code : macro.codes) {
            if (names_special(code)) in_macros.set(special_of_code(code));
        }
    });
    specials.keep_only(
        [&](std::uint16_t index) { return in_macros[index] || uses_->specials[index] != 0; });
    return true;
}

}  // namespace bobbin::unwind_table
