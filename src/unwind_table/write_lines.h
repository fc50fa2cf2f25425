// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "unwind_table/run.h"

namespace bobbin::unwind_table {

struct Granules {
    unsigned shift = 0;
    std::uint32_t count = 0;
};

// The words of a table (bpf_abi.h, "the unwind table"): a line for each granule, then the second
// lines. No granule may have more than kMaxGranuleItems items (line_items.h), all together no more
// than MAX_SECOND_LINES second lines. Words that a line has to spare go to last rules of macros.
std::vector<std::uint32_t> write_lines(std::span<const Run> entries, Granules granules,
                                       std::span<const abi::macro> macros);

}  // namespace bobbin::unwind_table
