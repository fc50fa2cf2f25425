// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cfi/unwind_row.h"
#include "unwind_table/run.h"
#include "unwind_table/special_rules.h"
#include "unwind_table/text_ranges.h"

namespace bobbin::unwind_table {

struct Runs {
    std::vector<Run> runs;         // ascending, neighbours with different codes
    std::uint64_t end_offset = 0;  // from base; from here on CODE_NO_CFI, as before the first run
    std::uint64_t row_count = 0;
    std::uint64_t rules_dropped = 0;
};

// Unwind rows by address become runs of equal codes by file offset, of executable bytes only. A gap
// up to kMaxPaddingBytes takes the rule before it, unless its range begins or ends with it: the
// nine bytes of a .fini without an FDE stand last and are code. Between ranges there is no CFI.
// Linear time, and at most one run a row and two a range.
inline constexpr std::uint64_t kMaxPaddingBytes = 15;
Runs simplify_rows(const cfi::UnwindRows& rows, const Text& text, SpecialRules& specials);

}  // namespace bobbin::unwind_table
