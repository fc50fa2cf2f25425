// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.h"
#include "elf/elf_file.h"
#include "pclntab/function_table.h"
#include "pclntab/names.h"

namespace bobbin::pclntab {

// What the file of a Go program has of the runtime's tables. Moves, but is not copied: the table
// and the trees view the sections.
struct ProgramTables {
    ProgramTables(elf::SectionBytes section, FunctionTable opened)
        : table_section(std::move(section)), functions(opened) {}
    ProgramTables(ProgramTables&&) = default;
    ProgramTables& operator=(ProgramTables&&) = default;
    ProgramTables(const ProgramTables&) = delete;
    ProgramTables& operator=(const ProgramTables&) = delete;
    ~ProgramTables() = default;

    elf::SectionBytes table_section;  // from the table's beginning on
    FunctionTable functions;
    InlineTrees inline_trees;
    elf::SectionBytes trees_section;  // where the trees do not lie in `table_section`
};

// The section of the function table, from the table's beginning on. nullopt: it is no program of
// Go.
Result<std::optional<elf::SectionBytes>> read_table_section(const elf::ElfFile& file);

// nullopt: it is no program of Go. Error: it has a function table that cannot be read, or that does
// not say where its text starts. Without module data, or where these are not understood, inlined
// calls are not known.
Result<std::optional<ProgramTables>> read_program_tables(const elf::ElfFile& file);

}  // namespace bobbin::pclntab
