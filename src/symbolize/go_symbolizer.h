// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elf/elf_file.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

// Names functions of Go, with files, lines and what was inlined, by the function table that every
// program of Go has, stripped ones too. Names are those of Go's own tools: without the suffixes
// (".abi0") that symbols have. C functions of the program have no lines here, or no names at all;
// neither have addresses of any other file.
class GoSymbolizer final : public Symbolizer {
public:
    // `file` must outlive the symbolizer.
    explicit GoSymbolizer(const elf::ElfFile& file) : file_(file) {}

    Result<std::vector<std::vector<NamedFrame>>> name(
        std::span<const std::uint64_t> addresses) override;

private:
    const elf::ElfFile& file_;
};

}  // namespace bobbin::symbolize
