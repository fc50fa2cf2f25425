// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pclntab/function_record.h"
#include "pclntab/function_table.h"

namespace bobbin::pclntab {

// One function at an address. Texts are views into the table.
struct Frame {
    std::string_view function;
    std::string_view file;   // empty: not known
    std::uint32_t line = 0;  // 0: not known
};

// Where the trees of inlined calls lie. No bytes: inlined calls are not known, and what was inlined
// counts as the function that it became part of.
struct InlineTrees {
    std::span<const std::byte> bytes;
    std::uint64_t file_vaddr = 0;        // of `bytes`
    std::uint64_t start_file_vaddr = 0;  // what offsets count from; 0 where trees have addresses
    InlineLayout layout;
};

// The functions at addresses, which ascend: one list each, innermost inlined function first, empty
// where the table has no function. Lines are those of `go tool addr2line`, which has no inlined
// functions; those are as the runtime's own traceback shows them. A function without lines is C
// that Go's linker took in, or padding behind a function. What is damaged costs itself only.
//
// Pure. Time and memory are bounded by the number of addresses, the table's size and the limits
// below; behind them addresses have no names.
std::vector<std::vector<Frame>> name_addresses(const FunctionTable& table, const InlineTrees& trees,
                                               std::span<const std::uint64_t> addresses);

// Spans of values read in all: hostile functions may all show one long table. 100,000 addresses all
// over Go's compiler, 26 MB, take 1.1 million.
inline constexpr std::uint64_t kMaxValueSpans = 32U << 20;
// Calls inlined into each other; five deep at 100,000 random addresses of Go's compiler.
inline constexpr std::size_t kMaxInlinedCalls = 256;
// What the answer may take when its texts are copied. These 100,000 addresses take 27 MB.
inline constexpr std::uint64_t kMaxAnswerBytes = 128ULL << 20;

}  // namespace bobbin::pclntab
