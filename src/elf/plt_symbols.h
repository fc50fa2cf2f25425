// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "elf/elf_file.h"

namespace bobbin::elf {

// What the names of a file's PLT stubs are made of. Any part may be empty.
struct PltSections {
    std::vector<SectionBytes> stubs;         // .plt, .plt.sec, .plt.got
    std::vector<std::byte> plt_relocations;  // .rela.plt: of the slots that .plt and .plt.sec use
    std::vector<std::byte> relocations;      // .rela.dyn: of those that .plt.got uses
    std::vector<std::byte> symbols;          // .dynsym
    std::vector<std::byte> strings;          // .dynstr
};

// Names the stubs "write@plt", as objdump does: by the slot of the global offset table that a stub
// jumps through, or by the relocation whose number it pushes (psABI figures 5.2 to 5.5). Pure; what
// makes no sense has no name.
std::vector<Symbol> find_plt_symbols(const PltSections& sections);

// The same of a file, where one of `addresses`, which ascend, lies in a stub; else nothing is read.
std::vector<Symbol> read_plt_symbols(const ElfFile& file, std::span<const std::uint64_t> addresses);

}  // namespace bobbin::elf
