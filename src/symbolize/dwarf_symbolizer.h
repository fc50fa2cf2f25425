// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "elf/elf_file.h"
#include "symbolize/find_debug_file.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

enum class SymbolDetail {
    kNames,    // by symbol tables alone
    kLines,    // and file and line
    kInlines,  // and what was inlined
};

struct DwarfOptions {
    SymbolDetail detail = SymbolDetail::kInlines;
    // What one file may cost. When two thirds are gone inlined functions are left out of the rest,
    // at the end lines, too; names by symbols there are always.
    std::chrono::milliseconds time_limit{30'000};
    std::vector<std::string> debug_directories = {"/usr/lib/debug"};
    std::string downloads;  // as DebugFileSources::downloads
    FileOpener open_file = open_object_file;
};

// What a file's names had to do without.
struct DwarfQuality {
    bool has_debug_info = false;
    bool lacks_supplementary_file = false;  // dwz's: names of inlined functions
    std::size_t missing_split_units = 0;    // .dwo files that are not there: inlined functions
    bool is_out_of_time = false;
};

// Names by symbols and by DWARF of one file, or of its separate debug file: inlined functions,
// files and lines. The function that the code belongs to has its symbol's name where a symbol
// covers the address (GCC's clones and cold parts have no name of their own in DWARF), others their
// linkage name or, without one, their name with its scopes. All that cannot be had costs itself
// only.
class DwarfSymbolizer final : public Symbolizer {
public:
    // `fd` and `file` are the same file, which lies at `path` for other files named beside it; both
    // must outlive the symbolizer.
    DwarfSymbolizer(int fd, const elf::ElfFile& file, std::string path, DwarfOptions options = {})
        : fd_(fd), file_(file), path_(std::move(path)), options_(std::move(options)) {}

    Result<std::vector<std::vector<NamedFrame>>> name(
        std::span<const std::uint64_t> addresses) override;

    // As of the last name().
    [[nodiscard]] const DwarfQuality& quality() const { return quality_; }

private:
    int fd_;
    const elf::ElfFile& file_;
    std::string path_;
    DwarfOptions options_;
    DwarfQuality quality_;
};

}  // namespace bobbin::symbolize
