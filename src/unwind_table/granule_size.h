// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "unwind_table/run.h"
#include "unwind_table/write_lines.h"

namespace bobbin::unwind_table {

// The smallest granules that the table can afford: the smaller, the fewer second lines a look-up
// meets. Error: no size does, because the entries are too dense for so long a text.
Result<Granules> choose_granules(std::span<const Run> entries, std::uint64_t end_offset);

}  // namespace bobbin::unwind_table
