// SPDX-License-Identifier: Apache-2.0
#include "elf/function_symbols.h"

#include <cstring>
#include <string_view>

#include "base/byte_reader.h"

namespace bobbin::elf {
namespace {

// The longest mangled name in libLLVM has 4,600 bytes.
constexpr std::size_t kMaxNameBytes = 65536;

bool is_function(const Elf64_Sym& symbol) {
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF &&
           symbol.st_value != 0;
}

// Not known of a reserved index, and of a section whose size is nonsense.
std::uint64_t end_of_section(std::span<const Elf64_Shdr> sections, std::uint16_t index) {
    constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};
    if (index >= SHN_LORESERVE || index >= sections.size()) return kNotKnown;
    std::uint64_t end = 0;
    const Elf64_Shdr& section = sections[index];
    return __builtin_add_overflow(section.sh_addr, section.sh_size, &end) ? kNotKnown : end;
}

// As far as it goes: up to its zero, its version or the limit.
std::string_view name_at(std::span<const std::byte> strings, std::uint32_t offset) {
    if (offset >= strings.size()) return {};
    const auto* start = reinterpret_cast<const char*>(strings.data()) + offset;
    const std::size_t room = std::min<std::size_t>(strings.size() - offset, kMaxNameBytes);
    const std::string_view name(start, ::strnlen(start, room));
    return name.substr(0, name.find('@', 1));
}

}  // namespace

Result<std::vector<Symbol>> functions_in(const SymbolTable& table) {
    std::vector<Symbol> functions;
    std::size_t names_bytes = 0;
    ByteReader in(table.symbols);
    while (in.remaining() >= sizeof(Elf64_Sym)) {
        const auto symbol = in.read<Elf64_Sym>();
        if (!is_function(symbol)) continue;
        const std::string_view name = name_at(table.strings, symbol.st_name);
        names_bytes += name.size();
        if (names_bytes > table.max_names_bytes) return fail("names of {} bytes", names_bytes);
        if (functions.size() == table.max_functions) {
            return fail("more functions than {}", functions.size());
        }
        functions.push_back({symbol.st_value, symbol.st_size, std::string(name),
                             end_of_section(table.sections, symbol.st_shndx)});
    }
    return functions;
}

Result<std::vector<Symbol>> read_functions(const FileBytes& file, const SectionTable& sections,
                                           std::size_t table_index) {
    const Elf64_Shdr& table = sections[table_index];
    if (table.sh_link >= sections.size())
        return fail("its string table is section {}, of {}", table.sh_link, sections.size());
    BOBBIN_TRY(const std::vector<std::byte> bytes,
               sections.read_bytes(file, table_index, ElfFile::kMaxSectionBytes));
    const std::size_t count = bytes.size() / sizeof(Elf64_Sym);
    if (table.sh_entsize != sizeof(Elf64_Sym) || count > ElfFile::kMaxSymbols) {
        return fail("{} symbols of {} bytes", count, table.sh_entsize);
    }
    BOBBIN_TRY(const std::vector<std::byte> strings,
               sections.read_bytes(file, table.sh_link, ElfFile::kMaxSectionBytes));
    return functions_in({.symbols = bytes,
                         .strings = strings,
                         .sections = sections.headers(),
                         .max_names_bytes = ElfFile::kMaxSectionBytes,
                         .max_functions = ElfFile::kMaxSymbols});
}

}  // namespace bobbin::elf
