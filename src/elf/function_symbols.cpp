// SPDX-License-Identifier: Apache-2.0
#include "elf/function_symbols.h"

#include <elf.h>

#include <cstring>
#include <span>
#include <string_view>

namespace bobbin::elf {
namespace {

// The longest mangled name in libLLVM has 4,600 bytes.
constexpr std::size_t kMaxNameBytes = 65536;
// Of all names of a file together. String tables share endings, so that names can have more bytes
// than their table: a small file could otherwise name 8 million symbols with 64 KiB each.
constexpr std::size_t kMaxAllNamesBytes = ElfFile::kMaxSectionBytes;

bool is_function(const Elf64_Sym& symbol) {
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF &&
           symbol.st_value != 0;
}

// Not known of a reserved index, and of a section whose size is nonsense.
std::uint64_t end_of_section(const SectionTable& sections, std::uint16_t index) {
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

    std::vector<Symbol> functions;
    std::size_t all_names_bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Elf64_Sym symbol;
        std::memcpy(&symbol, bytes.data() + i * sizeof(symbol), sizeof(symbol));
        if (!is_function(symbol)) continue;
        const std::string_view name = name_at(strings, symbol.st_name);
        all_names_bytes += name.size();
        if (all_names_bytes > kMaxAllNamesBytes) return fail("names of {} bytes", all_names_bytes);
        functions.push_back({symbol.st_value, symbol.st_size, std::string(name),
                             end_of_section(sections, symbol.st_shndx)});
    }
    return functions;
}

}  // namespace bobbin::elf
