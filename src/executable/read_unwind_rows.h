// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cfi/unwind_row.h"
#include "elf/elf_file.h"

namespace bobbin::executable {

struct FileRows {
    cfi::UnwindRows unwind;
    std::string damage;  // what could not be read of it; empty when everything could
};

// All that a file says about unwinding: Go's function table first, because its rows alone know
// where the runtime changes stacks; `.eh_frame` for whatever it leaves open, such as linked C; and
// `.debug_frame` behind both. Error: there is something, but of none of it a row could be made.
Result<FileRows> read_unwind_rows(const elf::ElfFile& elf);

}  // namespace bobbin::executable
