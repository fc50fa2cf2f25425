// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>

#include "unwind_table/macro_dictionary.h"
#include "unwind_table/rule_uses.h"
#include "unwind_table/special_rules.h"

namespace bobbin::unwind_table {

// What the codes of all tables refer to, and what the kernel therefore has to be told before it is
// told of a table. Any thread.
struct SharedRules {
    SpecialRules specials;
    MacroDictionary macros;
    // Shared by who builds a table, from its first look at the above to hold().
    std::shared_mutex building;

    // What a finished table refers to stays as it is until all copies of the answer are gone.
    [[nodiscard]] std::shared_ptr<const HeldRules> hold(
        std::span<const std::uint32_t> entries) const {
        return std::make_shared<const HeldRules>(uses_, entries);
    }

    // Forgets what no table holds, so that others find room. False: a table is being built, and
    // nothing was done.
    bool forget_unused();

private:
    std::shared_ptr<RuleUses> uses_ = std::make_shared<RuleUses>();
};

}  // namespace bobbin::unwind_table
