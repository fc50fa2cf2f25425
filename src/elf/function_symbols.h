// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"
#include "elf/file_bytes.h"
#include "elf/section_table.h"

namespace bobbin::elf {

// The functions of one symbol table (section `table_index`), with names from the string table that
// it links to.
Result<std::vector<Symbol>> read_functions(const FileBytes& file, const SectionTable& sections,
                                           std::size_t table_index);

}  // namespace bobbin::elf
