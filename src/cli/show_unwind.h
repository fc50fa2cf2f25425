// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "base/result.h"
#include "cfi/unwind_row.h"
#include "cli/command_line.h"

namespace bobbin::cli {

// Writes one line a row, "0000000000401136  cfa = rsp + 16; ...": the address in the file where the
// rule begins to hold, and the rule as the kernel side will apply it. With a pc only the row that
// covers it; a pc outside all rows is an error.
Result<> show_rows(const cfi::UnwindRows& unwind, std::optional<std::uint64_t> pc_file_vaddr,
                   std::FILE* output);

// Prints to standard output, errors to standard error; gives the exit status.
int run_show_unwind(const ShowUnwindCommand& command);

}  // namespace bobbin::cli
