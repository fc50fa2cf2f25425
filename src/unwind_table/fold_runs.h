// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "unwind_table/macro_dictionary.h"
#include "unwind_table/run.h"

namespace bobbin::unwind_table {

// Runs become entries: neighbours that are in the dictionary together become one entry whose code
// names the macro. What comes again and again in this file is put into the dictionary first. Linear
// time. The same runs and the same dictionary give the same entries.
std::vector<Run> fold_runs(std::span<const Run> runs, MacroDictionary& macros);

}  // namespace bobbin::unwind_table
