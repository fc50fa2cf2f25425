// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bobbin/bpf_abi.h"
#include "cfi/unwind_row.h"
#include "elf/elf_file.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::unwind_table {

// The unwind information of one executable in the kernel's layout (bpf_abi.h, "the unwind table"),
// as if it began at word 0 of the pool.
struct UnwindTable {
    std::vector<std::uint32_t> words;  // whole lines: one a granule, then second ones
    std::uint64_t base_file_offset = 0;
    std::uint32_t granule_count = 0;
    std::uint32_t granule_shift = 0;
    std::uint64_t row_count = 0;             // rows that came in, of executable segments
    std::uint64_t entry_count = 0;           // entries that stand for them
    std::uint64_t rules_dropped = 0;         // rows made "no CFI" because `specials` was full
    std::shared_ptr<const HeldRules> rules;  // what the entries name, as long as anybody needs it
};

// Packs rows into a table indexed by file offset: only bytes of executable segments that stand in
// the file get entries. Neighbours with equal codes become one; gaps under 16 bytes (alignment
// between functions) take the rule before them; whole prologues and epilogues become one entry
// (fold_runs.h). Pure but for `shared`. Error: the text spans more than 2^32 bytes, or its
// entries are too dense (granule_size.h).
Result<UnwindTable> build_table(const cfi::UnwindRows& rows,
                                std::span<const elf::LoadSegment> segments, SharedRules& shared);

// The search the kernel does, step for step: the 16-bit code at `file_offset`, no longer a macro's.
// `steps`, if given, gets the number of halvings (at most MAX_SEARCH_STEPS).
std::uint16_t find_code(const UnwindTable& table, std::uint64_t file_offset,
                        std::span<const abi::macro> macros, unsigned* steps = nullptr);

// 16-bit code of a rule, never a macro's; nullopt when it needs a special that `specials` does not
// give (SpecialRules::index_of).
std::optional<std::uint16_t> encode_rule(const cfi::UnwindRule& rule, SpecialRules& specials,
                                         std::size_t* may_add = nullptr);

// One line for people: "cfa = rsp + 16; rbp = *(cfa - 16); ra = *(cfa - 8)". A macro's has the
// distances at which its rules begin: "+0 cfa = ... | +1 cfa = ...".
std::string describe_code(std::uint16_t code, std::span<const abi::special_rule> specials,
                          std::span<const abi::macro> macros = {});

}  // namespace bobbin::unwind_table
