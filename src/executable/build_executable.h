// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bobbin/bpf_abi.h"
#include "elf/elf_file.h"
#include "executable/content_key.h"
#include "executable/executable.h"
#include "executable/known_tables.h"
#include "executable/open_file.h"
#include "unwind_table/build_table.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::executable {

// A file read and packed, ready to be given to the kernel side. Second step of open, build,
// publish.
struct BuiltExecutable {
    abi::file_key key{};
    Announced announced{};
    Executable executable;
    // None: executable.refused says why; or the kernel had the table of a file with this content.
    std::optional<unwind_table::UnwindTable> table;
    std::optional<ContentKey> content;  // only of a file that was read without damage

    [[nodiscard]] bool is_copy() const { return !table && content; }
};

// Reads ELF and everything it says about unwinding (read_unwind_rows.h), and packs the table. Never
// fails as a whole: a file that cannot be read becomes an executable without a table, with the
// reason in `refused`; one whose unwind information is damaged in places keeps the rest, also with
// the reason. A file that says nothing about unwinding has an empty table and is not refused: its
// code may keep frame pointers. Of a file whose content is among `known` no table is made. Worker
// threads. Reading may stand still where the file system has a server that does not answer; nothing
// here waits for anything else.
BuiltExecutable build_executable(OpenedFile file, unwind_table::SharedRules& shared,
                                 const KnownTables* known = nullptr);

// The same for an image in memory, the vdso, which from then on is a file of its own (a memfd).
BuiltExecutable build_vdso(std::span<const std::byte> image, unwind_table::SharedRules& shared);

}  // namespace bobbin::executable
