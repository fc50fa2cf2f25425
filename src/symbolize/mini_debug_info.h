// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"

namespace bobbin::symbolize {

// The function symbols in `.gnu_debugdata`: an ELF file, compressed with xz, of which only .symtab
// is of use, and that has only what .dynsym has not (gdb's manual, "MiniDebugInfo"). Fedora's and
// RHEL's stripped programs have it. Pure; memory is bounded by the limits below. Error: it is
// damaged, or larger than they allow.
Result<std::vector<elf::Symbol>> read_mini_debug_symbols(std::span<const std::byte> compressed);
// The same of the file that comes out.
Result<std::vector<elf::Symbol>> read_mini_debug_file(std::span<const std::byte> file);

// `xz -9` needs 65 MiB to decompress, the default 9 (xz's manual); a stream may ask for 4 GiB.
inline constexpr std::uint64_t kMaxXzMemoryBytes = 80ULL << 20;
// Of the file that comes out: a million functions take 24 bytes each, and their names.
inline constexpr std::size_t kMaxMiniDebugBytes = 64ULL << 20;

}  // namespace bobbin::symbolize
