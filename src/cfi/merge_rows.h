// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cfi/unwind_row.h"

namespace bobbin::cfi {

// The rows of `primary` and, wherever it says "no CFI", those of `behind`: a Go program that links
// C has .eh_frame for the one and .debug_frame for the other. Linear in the rows of both. What of
// `behind` would make the result span more than 4 GiB, or have more rules than a RuleSet holds, is
// left out.
UnwindRows merge_rows(UnwindRows primary, const UnwindRows& behind);

}  // namespace bobbin::cfi
