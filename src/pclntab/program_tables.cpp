// SPDX-License-Identifier: Apache-2.0
#include "pclntab/program_tables.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "pclntab/module_data.h"
#include "pclntab/text_start.h"

namespace bobbin::pclntab {
namespace {

using MaybeSection = std::optional<elf::SectionBytes>;

void cut_off_front(elf::SectionBytes& section, std::size_t count) {
    section.bytes.erase(section.bytes.begin(),
                        section.bytes.begin() + static_cast<std::ptrdiff_t>(count));
    section.file_vaddr += count;
}

// runtime.firstmoduledata: a section of its own since Go 1.26.
MaybeSection read_module_data(const elf::ElfFile& file, const FunctionTable& table,
                              std::uint64_t table_file_vaddr) {
    auto own = file.read_section(".go.module");
    if (own && *own) return std::move(*own);
    auto section = file.read_section(".noptrdata");
    if (!section || !*section) return std::nullopt;
    const auto at = find_module_data((*section)->bytes, table, table_file_vaddr);
    if (!at) return std::nullopt;
    cut_off_front(**section, *at);
    return std::move(*section);
}

bool contains(std::uint64_t section_file_vaddr, std::uint64_t size_bytes,
              std::uint64_t file_vaddr) {
    return file_vaddr >= section_file_vaddr && file_vaddr - section_file_vaddr < size_bytes;
}

// go:func.* lies in the section of the function table since Go 1.26, in .rodata before; addresses
// of trees, up to 1.17, point there or, in a PIE, into .data.rel.ro.
void read_trees_section(const elf::ElfFile& file, std::uint64_t start_file_vaddr,
                        ProgramTables& tables) {
    const elf::SectionBytes& own = tables.table_section;
    if (contains(own.file_vaddr, own.bytes.size(), start_file_vaddr)) {
        tables.inline_trees.bytes = own.bytes;
        tables.inline_trees.file_vaddr = own.file_vaddr;
        return;
    }
    for (const std::string_view name : {".rodata", ".data.rel.ro"}) {
        const auto place = file.find_section(name);
        if (!place || !contains(place->file_vaddr, place->size_bytes, start_file_vaddr)) continue;
        auto section = file.read_section(name);
        if (!section || !*section) return;
        tables.trees_section = std::move(**section);
        tables.inline_trees.bytes = tables.trees_section.bytes;
        tables.inline_trees.file_vaddr = tables.trees_section.file_vaddr;
    }
}

// The address of any tree: they all lie in one section.
std::optional<std::uint64_t> find_tree(const ProgramTables& tables) {
    for (std::size_t i = 0; i < tables.functions.size(); ++i) {
        const auto function = tables.functions.function(i);
        if (!function) continue;
        const auto record =
            read_function_record(tables.functions, *function, tables.inline_trees.layout);
        if (record && record->inline_tree) return record->inline_tree;
    }
    return std::nullopt;
}

}  // namespace

// Its own section, in a PIE of Go's linker before 1.26 under the second name; in a PIE that ld made
// of such Go, somewhere in .data.rel.ro.
Result<MaybeSection> read_table_section(const elf::ElfFile& file) {
    for (const std::string_view name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
        BOBBIN_TRY(MaybeSection section, file.read_section(name));
        if (section) return section;
    }
    if (!file.find_section(".go.buildinfo")) return std::nullopt;
    BOBBIN_TRY(MaybeSection section, file.read_section(".data.rel.ro"));
    if (!section) return std::nullopt;
    const auto at = find_function_table(section->bytes);
    if (!at) return std::nullopt;
    cut_off_front(*section, *at);
    return section;
}

Result<std::optional<ProgramTables>> read_program_tables(const elf::ElfFile& file) {
    BOBBIN_TRY(MaybeSection section, read_table_section(file));
    if (!section) return std::nullopt;
    const std::uint64_t table_file_vaddr = section->file_vaddr;
    BOBBIN_TRY(FunctionTable table, FunctionTable::open(section->bytes));
    const MaybeSection module_data = read_module_data(file, table, table_file_vaddr);
    if (!table.knows_text_start()) {
        BOBBIN_CHECK(tell_text_start(module_data, table_file_vaddr, table));
    }

    ProgramTables tables(std::move(*section), table);
    tables.inline_trees.layout =
        inline_layout(table.version(), file.find_section(".go.buildinfo").has_value());
    if (tables.inline_trees.layout.has_addresses) {
        if (const auto tree = find_tree(tables)) read_trees_section(file, *tree, tables);
    } else if (module_data) {
        const auto start = read_inline_trees_start(module_data->bytes, table.version());
        tables.inline_trees.start_file_vaddr = start.value_or(0);
        if (start) read_trees_section(file, *start, tables);
    }
    return tables;
}

}  // namespace bobbin::pclntab
