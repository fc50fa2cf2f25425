// SPDX-License-Identifier: Apache-2.0
#include "symbolize/dwarf_symbolizer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "dwarf/resolve.h"
#include "elf/plt_symbols.h"
#include "symbolize/debug_files.h"
#include "symbolize/elf_symbolizer.h"

namespace bobbin::symbolize {
namespace {

dwarf::Resolution resolve(const DebugFiles& files, std::span<const std::uint64_t> addresses,
                          std::span<const CoveringSymbol> symbols, bool has_symbols,
                          const DwarfOptions& options) {
    std::vector<dwarf::Query> queries;
    queries.reserve(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        queries.push_back({addresses[i], symbols[i].start_vaddr});
    }
    dwarf::ResolveOptions how;
    how.start = dwarf::Budget::Clock::now();
    how.deadline = how.start + options.time_limit;
    how.wants_inlined_calls = options.detail == SymbolDetail::kInlines;
    how.has_symbols = has_symbols;
    how.open_split_file = [&](const dwarf::Unit& skeleton) {
        return files.open_split_file(skeleton);
    };
    how.package = files.package();
    return dwarf::resolve(files.main(), queries, how);
}

// Innermost first. The last frame is the function itself, which a symbol names better; an inlined
// function whose name could not be had is left out. Nothing without any name.
std::vector<NamedFrame> frames_of(const dwarf::Resolution& resolution, std::size_t address,
                                  const std::string& symbol) {
    const dwarf::Resolution::Span span = resolution.spans[address];
    std::vector<NamedFrame> frames;
    frames.reserve(span.frame_count);
    for (std::uint32_t i = 0; i < span.frame_count; ++i) {
        const dwarf::Frame& frame = resolution.frames[span.first_frame + i];
        const bool is_outermost = i + 1 == span.frame_count;
        const std::string& name =
            is_outermost && !symbol.empty() ? symbol : resolution.strings[frame.function];
        if (name.empty()) continue;
        frames.push_back({name, resolution.strings[frame.file], frame.line, {}});
    }
    if (frames.empty() && !symbol.empty()) frames.push_back({symbol, {}, 0, {}});
    return frames;
}

}  // namespace

Result<NamesOfEach> DwarfSymbolizer::name(std::span<const std::uint64_t> addresses) {
    quality_ = {};
    BOBBIN_TRY(const DebugFiles files, DebugFiles::open(fd_, file_, path_,
                                                        {.directories = options_.debug_directories,
                                                         .downloads = options_.downloads,
                                                         .open = options_.open_file}));
    BOBBIN_TRY(std::vector<elf::Symbol> symbols, files.read_function_symbols(file_));
    std::ranges::move(elf::read_plt_symbols(file_, addresses), std::back_inserter(symbols));
    quality_.has_debug_info = files.has_debug_info();
    quality_.lacks_supplementary_file = files.lacks_supplementary_file();
    if (!files.has_debug_info() || options_.detail == SymbolDetail::kNames) {
        return name_by_symbols(std::move(symbols), file_.load_segments(), addresses);
    }
    const bool has_symbols = !symbols.empty();
    const std::vector<CoveringSymbol> covering =
        find_covering_symbols(std::move(symbols), file_.load_segments(), addresses);
    const dwarf::Resolution resolution = resolve(files, addresses, covering, has_symbols, options_);
    quality_.missing_split_units = resolution.missing_split_units;
    quality_.is_out_of_time = resolution.is_out_of_time;
    NamesOfEach names(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        names[i] = frames_of(resolution, i, covering[i].name);
    }
    return names;
}

}  // namespace bobbin::symbolize
