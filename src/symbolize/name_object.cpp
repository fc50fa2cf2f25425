// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_object.h"

#include <cstddef>
#include <utility>

#include "elf/elf_file.h"
#include "symbolize/go_symbolizer.h"

namespace bobbin::symbolize {
namespace {

// Of a program of Go its own tables know more than symbols, and all of its code without DWARF. What
// they cannot say costs nothing: DWARF is asked for it.
NamesOfEach name_go_functions(const elf::ElfFile& file, std::span<const std::uint64_t> addresses) {
    auto names = GoSymbolizer(file).name(addresses);
    return names ? std::move(*names) : NamesOfEach(addresses.size());
}

// C functions have no lines in Go's tables.
std::vector<std::size_t> find_without_line(const NamesOfEach& names) {
    std::vector<std::size_t> without;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty() || names[i].front().line == 0) without.push_back(i);
    }
    return without;
}

}  // namespace

Result<ObjectNames> name_object(int fd, const std::string& path,
                                std::span<const std::uint64_t> addresses,
                                const DwarfOptions& options) {
    BOBBIN_TRY(const elf::ElfFile file, elf::ElfFile::open(fd));
    ObjectNames object{.names = name_go_functions(file, addresses), .quality = {}};
    const std::vector<std::size_t> rest = find_without_line(object.names);
    if (rest.empty()) {
        object.quality.has_debug_info = true;
        return object;
    }

    std::vector<std::uint64_t> rest_addresses;
    rest_addresses.reserve(rest.size());
    for (const std::size_t i : rest) rest_addresses.push_back(addresses[i]);
    DwarfSymbolizer symbolizer(fd, file, path, options);
    auto names = symbolizer.name(rest_addresses);
    if (!names && rest.size() == addresses.size()) return fail(std::move(names).error());
    for (std::size_t i = 0; names && i < rest.size(); ++i) {
        if (!(*names)[i].empty()) object.names[rest[i]] = std::move((*names)[i]);
    }
    object.quality = symbolizer.quality();
    return object;
}

}  // namespace bobbin::symbolize
