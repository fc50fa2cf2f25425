// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cfi/unwind_row.h"
#include "elf/elf_file.h"

namespace bobbin::executable {

using MaybeSection = std::optional<elf::SectionBytes>;

// All sections that say something about unwinding, as they were at one moment: whoever writes to
// the file meanwhile, what a table is made from is what it is known by (content_key.h). An error:
// it is there but cannot be read.
struct UnwindSections {
    Result<MaybeSection> go_functions;  // .gopclntab, from the table's begin on
    Result<MaybeSection> go_module;     // .go.module, where that may be needed
    Result<MaybeSection> eh_frame;
    Result<MaybeSection> debug_frame;
    Result<MaybeSection> init;  // .init and .fini: code
    Result<MaybeSection> fini;
};
UnwindSections read_unwind_sections(const elf::ElfFile& elf);

// One section that gave rows, or should have.
struct RowSource {
    std::string_view section;          // ".gopclntab", ".eh_frame", ".debug_frame" or ".init"
    std::uint64_t size_bytes = 0;      // as read: unpacked, and from the table's begin on
    std::uint64_t function_count = 0;  // that gave rows
    std::uint64_t function_refused_count = 0;
};

struct FileRows {
    cfi::UnwindRows unwind;
    std::vector<RowSource> sources;  // the stronger first
    std::string damage;              // what could not be read of it; empty when everything could
};

// All that a file says about unwinding: Go's function table first, because its rows alone know
// where the runtime changes stacks; `.eh_frame` for whatever it leaves open, such as linked C;
// `.debug_frame` behind both; and last the start files' code. Error: there is something, but of
// none of it a row could be made.
Result<FileRows> read_unwind_rows(UnwindSections sections);
Result<FileRows> read_unwind_rows(const elf::ElfFile& elf);

}  // namespace bobbin::executable
