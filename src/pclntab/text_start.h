// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "elf/elf_file.h"
#include "pclntab/function_table.h"

namespace bobbin::pclntab {

// Where the text of a Go program starts, which since Go 1.26 only runtime.firstmoduledata says
// (`.go.module`; a word in the table would need a relocation). The .text section may start earlier,
// with what ld put before Go's part. `module_data` is read as it stands in the file: Go's linker
// and ld write addresses there in a PIE too. Error: the words do not agree with the table, so their
// order is not the one known.
Result<std::uint64_t> read_text_start(std::span<const std::byte> module_data,
                                      const FunctionTable& table, std::uint64_t table_file_vaddr);
// Tells it to `table`. Error also where a program has no module data.
Result<> tell_text_start(const std::optional<elf::SectionBytes>& module_data,
                         std::uint64_t table_file_vaddr, FunctionTable& table);

}  // namespace bobbin::pclntab
