// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"
#include "elf/file_bytes.h"
#include "elf/section_table.h"

namespace bobbin::elf {

// A symbol table's bytes, and what they refer to.
struct SymbolTable {
    std::span<const std::byte> symbols;
    std::span<const std::byte> strings;
    std::span<const Elf64_Shdr> sections;
    // String tables share endings, so that names can have more bytes than their table: a small file
    // could otherwise name 8 million symbols with 64 KiB each.
    std::size_t max_names_bytes = 0;
    std::size_t max_functions = 0;
};
// Pure. Error: more than the limits allow.
Result<std::vector<Symbol>> functions_in(const SymbolTable& table);

// The functions of one symbol table (section `table_index`), with names from the string table that
// it links to.
Result<std::vector<Symbol>> read_functions(const FileBytes& file, const SectionTable& sections,
                                           std::size_t table_index);

}  // namespace bobbin::elf
