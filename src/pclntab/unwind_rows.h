// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cfi/unwind_row.h"
#include "pclntab/function_table.h"

namespace bobbin::pclntab {

struct GoRows {
    cfi::UnwindRows unwind;
    std::uint64_t function_count = 0;          // that gave rows
    std::uint64_t function_refused_count = 0;  // damaged, or out of order: left without rows
    std::string stopped;  // why reading ended before the end of the table; else empty
};

// The rows of every function of a Go program, from its stack depths:
//   cfa = rsp + depth + 8;  return address = *(cfa - 8);  rbp = *(cfa - 16) inside a frame
// They are exact at each instruction, in functions without a frame too. C functions that the Go
// linker took in have no depths and get no rows. Where the runtime changes stacks,
// special_functions says how to cross, or that the walk ends. Pure; time and memory are bounded by
// the table's size and kMaxSpans. Error: the table does not know where its text starts, or there
// are functions, but of none a row could be made.
Result<GoRows> read_unwind_rows(const FunctionTable& table);

// Depth spans read in all. A table may show one list of depths in any number of functions; real
// ones of 300,000 functions have 2 million.
inline constexpr std::uint64_t kMaxSpans = 32U << 20;

}  // namespace bobbin::pclntab
