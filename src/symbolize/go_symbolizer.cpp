// SPDX-License-Identifier: Apache-2.0
#include "symbolize/go_symbolizer.h"

#include <string>
#include <utility>

#include "pclntab/names.h"
#include "pclntab/program_tables.h"

namespace bobbin::symbolize {

Result<std::vector<std::vector<NamedFrame>>> GoSymbolizer::name(
    std::span<const std::uint64_t> addresses) {
    std::vector<std::vector<NamedFrame>> names(addresses.size());
    BOBBIN_TRY(const auto tables, pclntab::read_program_tables(file_));
    if (!tables) return names;
    const auto frames = pclntab::name_addresses(tables->functions, tables->inline_trees, addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        for (const pclntab::Frame& frame : frames[i]) {
            if (frame.function.empty()) continue;
            names[i].push_back(
                {std::string(frame.function), std::string(frame.file), frame.line, {}});
        }
    }
    return names;
}

}  // namespace bobbin::symbolize
