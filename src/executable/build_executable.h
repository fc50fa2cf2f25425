// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bobbin/bpf_abi.h"
#include "elf/elf_file.h"
#include "executable/executable.h"
#include "executable/open_file.h"
#include "unwind_table/build_table.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::executable {

// What two files have in common when one table serves both: every rule and every segment. A build
// id alone would not do, because a hostile file can carry libc's. The hash is seeded anew in each
// run, so that nobody can prepare a file for it.
struct ContentKey {
    elf::BuildId build_id;
    std::uint64_t size_bytes = 0;
    std::array<std::uint64_t, 2> unwind_hash{};

    friend bool operator==(const ContentKey&, const ContentKey&) = default;
};

// A file read and packed, ready to be given to the kernel side. Second step of open, build,
// publish.
struct BuiltExecutable {
    abi::file_key key{};
    Executable executable;
    std::optional<unwind_table::UnwindTable> table;  // none: executable.refused says why
    std::optional<ContentKey> content;               // only of a file that was read without damage
};

// Reads ELF and everything it says about unwinding (read_unwind_rows.h), and packs the table. Never
// fails as a whole: a file that cannot be read becomes an executable without a table, with the
// reason in `refused`; one whose unwind information is damaged in places keeps the rest, also with
// the reason. A file that says nothing about unwinding has an empty table and is not refused: its
// code may keep frame pointers. Worker threads. Reading may stand still where the file system has
// a server that does not answer; nothing here waits for anything else.
BuiltExecutable build_executable(OpenedFile file, unwind_table::SharedRules& shared);

// The same for an image in memory, the vdso, which from then on is a file of its own (a memfd).
BuiltExecutable build_vdso(std::span<const std::byte> image, unwind_table::SharedRules& shared);

}  // namespace bobbin::executable
