// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cfi/unwind_row.h"

namespace bobbin::fuzz {

inline void require(bool holds) {
    if (!holds) __builtin_trap();
}

// What unwind_row.h promises of rows, whatever the bytes were.
inline void check_rows(const cfi::UnwindRows& unwind) {
    require(!unwind.rules.empty() && unwind.rules[0] == cfi::UnwindRule{});
    if (unwind.rows.empty()) return;
    require(unwind.rows.back().rule == cfi::UnwindRows::kNoCfiRule);
    for (std::size_t i = 0; i < unwind.rows.size(); ++i) {
        require(unwind.rows[i].rule < unwind.rules.size());
        if (i == 0) continue;
        require(unwind.rows[i].vaddr_from_base > unwind.rows[i - 1].vaddr_from_base);
        require(unwind.rule_of(unwind.rows[i]) != unwind.rule_of(unwind.rows[i - 1]));
    }
}

}  // namespace bobbin::fuzz
