// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "cfi/unwind_row.h"

namespace bobbin::cfi {

// The two expressions that a walk can follow are recognised by shape, none is evaluated: all of
// /usr has only four shapes. Any other becomes kExpression. DWARF 5 section 2.5.

// DW_CFA_def_cfa_expression: reg+o, *(reg+o)+a and the PLT's. Sets the CFA part of `rule`.
void set_cfa_expression(std::span<const std::byte> expression, UnwindRule& rule);

// DW_CFA_expression for rbp: *(rbp+o). Sets the rbp part of `rule`.
void set_rbp_expression(std::span<const std::byte> expression, UnwindRule& rule);

}  // namespace bobbin::cfi
