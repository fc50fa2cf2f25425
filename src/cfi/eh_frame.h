// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "cfi/unwind_row.h"

namespace bobbin::cfi {

// What one section says; .debug_frame, too.
struct EhFrame {
    UnwindRows unwind;
    std::uint64_t fde_count = 0;          // that gave rows
    std::uint64_t fde_refused_count = 0;  // malformed: their text stays without CFI
    std::string stopped;  // why reading ended before the end of the section; else empty
};

// Reads one `.eh_frame` section and gives the rows of every function in it. Where two FDEs overlap,
// the one that starts first keeps the bytes both claim. A malformed FDE costs its own function
// only; reading stops at the first length that leaves the section, and rows found before it are
// kept. Pure: bytes in, rows out, no system call, so it can run in a sandboxed worker and under the
// fuzzer; time and memory are linear in the section's size whatever the bytes say. A section
// without functions gives no rows. Error: there are functions, but of none a row could be made.
// Format: DWARF 5 section 6.4; LSB 5.0 chapter 10.6 for the augmentations and pointer encodings.
Result<EhFrame> read_eh_frame(std::span<const std::byte> section, std::uint64_t section_file_vaddr);

// The same of a `.debug_frame`, which is all that Go's own linker writes and what compilers write
// with -fno-asynchronous-unwind-tables -g. Its addresses are absolute, since it is not loaded.
Result<EhFrame> read_debug_frame(std::span<const std::byte> section);

}  // namespace bobbin::cfi
