// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "bobbin/bpf_abi.h"
#include "executable/executable.h"
#include "executable/open_file.h"
#include "unwind_table/build_table.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::executable {

// A file read and packed, ready to be given to the kernel side. Second step of open, build,
// publish.
struct BuiltExecutable {
    abi::file_key key{};
    Executable executable;
    std::optional<unwind_table::UnwindTable> table;  // none: executable.refused says why
};

// Reads ELF and everything it says about unwinding (read_unwind_rows.h), and packs the table. Never
// fails as a whole: a file that cannot be read becomes an executable without a table, with the
// reason in `refused`; one whose unwind information is damaged in places keeps the rest, also with
// the reason. A file that says nothing about unwinding has an empty table and is not refused: its
// code may keep frame pointers. Worker threads.
BuiltExecutable build_executable(OpenedFile file, unwind_table::SharedRules& shared);

// The same for an image in memory, the vdso, which from then on is a file of its own (a memfd).
BuiltExecutable build_vdso(std::span<const std::byte> image, unwind_table::SharedRules& shared);

}  // namespace bobbin::executable
