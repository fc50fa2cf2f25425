// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elf/elf_file.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

// Names by .symtab, else .dynsym, of one file, which must outlive the symbolizer. Each name() reads
// the table once and keeps only the symbols that cover one of its addresses.
//
// Where several symbols cover an address, one with a size goes before one without, then the one
// that starts last, then the smallest; aliases in everything go by the fewest leading underscores,
// then by the alphabet (`write`, not `__write`). A symbol without a size (assembly) reaches to
// where the next symbol starts or a sized one around it ends, at most to the end of its segment.
// Behind a sized symbol's end there is no name: a stripped file has holes where its own functions
// were.
class ElfSymbolizer final : public Symbolizer {
public:
    explicit ElfSymbolizer(const elf::ElfFile& file) : file_(file) {}

    Result<std::vector<std::vector<NamedFrame>>> name(
        std::span<const std::uint64_t> addresses) override;

private:
    const elf::ElfFile& file_;
};

// The symbol chosen for an address; without a name: there is none.
struct CoveringSymbol {
    std::uint64_t start_vaddr = 0;
    std::string name;
};

// The same on symbols and segments as they are: pure. `addresses` ascend.
std::vector<CoveringSymbol> find_covering_symbols(std::vector<elf::Symbol> symbols,
                                                  std::span<const elf::LoadSegment> segments,
                                                  std::span<const std::uint64_t> addresses);
std::vector<std::vector<NamedFrame>> name_by_symbols(std::vector<elf::Symbol> symbols,
                                                     std::span<const elf::LoadSegment> segments,
                                                     std::span<const std::uint64_t> addresses);

}  // namespace bobbin::symbolize
