// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind_table/macro_dictionary.h"
#include "unwind_table/special_rules.h"

namespace bobbin::unwind_table {

// What the codes of all tables refer to, and what the kernel therefore has to be told before it is
// told of a table. Any thread.
struct SharedRules {
    SpecialRules specials;
    MacroDictionary macros;
};

}  // namespace bobbin::unwind_table
