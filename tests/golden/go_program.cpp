// SPDX-License-Identifier: Apache-2.0
#include "golden/go_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "pclntab/function_table.h"
#include "pclntab/text_start.h"

namespace bobbin::test {
namespace {

Result<elf::SectionBytes> read_required(const elf::ElfFile& elf, std::string_view name) {
    BOBBIN_TRY(auto section, elf.read_section(name));
    if (!section) return fail("no section {}", name);
    return std::move(*section);
}

// Where the three kinds of program have their table; executable/read_unwind_rows.cpp has to find it
// in files of which it knows nothing.
Result<elf::SectionBytes> read_table_section(const elf::ElfFile& elf) {
    for (const std::string_view name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
        BOBBIN_TRY(auto section, elf.read_section(name));
        if (section) return std::move(*section);
    }
    BOBBIN_TRY(auto section, read_required(elf, ".data.rel.ro"));
    const auto at = pclntab::find_function_table(section.bytes);
    if (!at) return fail("no function table");
    section.bytes.erase(section.bytes.begin(),
                        section.bytes.begin() + static_cast<std::ptrdiff_t>(*at));
    return section;
}

Result<pclntab::GoRows> read_rows(const elf::ElfFile& elf) {
    BOBBIN_TRY(const auto section, read_table_section(elf));
    BOBBIN_TRY(auto table, pclntab::FunctionTable::open(section.bytes));
    if (!table.knows_text_start()) {
        BOBBIN_TRY(const auto module_data, read_required(elf, ".go.module"));
        BOBBIN_TRY(const auto start,
                   pclntab::read_text_start(module_data.bytes, table, section.file_vaddr));
        table.set_text_start(start);
    }
    return pclntab::read_unwind_rows(table);
}

// Those between the linker's own marks; C functions stand outside.
std::vector<elf::Symbol> functions_of_go(std::vector<elf::Symbol> symbols) {
    const auto address_of = [&](std::string_view name) {
        const auto found = std::ranges::find(symbols, name, &elf::Symbol::name);
        return found == symbols.end() ? 0 : found->file_vaddr;
    };
    const std::uint64_t begin = address_of("runtime.text");
    const std::uint64_t end = address_of("runtime.etext");
    EXPECT_LT(begin, end);
    std::erase_if(symbols, [&](const elf::Symbol& symbol) {
        return symbol.file_vaddr < begin || symbol.file_vaddr >= end || symbol.size_bytes == 0;
    });
    std::ranges::sort(symbols, {}, &elf::Symbol::file_vaddr);
    return symbols;
}

Result<GoProgram> try_read(const elf::ElfFile& elf, const std::string& path) {
    GoProgram program;
    program.path = path;
    BOBBIN_TRY(program.rows, read_rows(elf));
    BOBBIN_TRY(auto symbols, elf.read_function_symbols());
    program.functions = functions_of_go(std::move(symbols));
    BOBBIN_TRY(program.text, read_required(elf, ".text"));
    return program;
}

}  // namespace

const cfi::UnwindRule& GoProgram::rule_at(std::uint64_t file_vaddr) const {
    const cfi::UnwindRows& unwind = rows.unwind;
    auto row = std::ranges::upper_bound(
        unwind.rows, file_vaddr, {},
        [&](const cfi::UnwindRow& candidate) { return unwind.file_vaddr(candidate); });
    return row == unwind.rows.begin() ? unwind.rules[0] : unwind.rule_of(*--row);
}

std::string GoProgram::function_at(std::uint64_t file_vaddr) const {
    auto symbol = std::ranges::upper_bound(functions, file_vaddr, {}, &elf::Symbol::file_vaddr);
    return symbol == functions.begin() ? "" : (--symbol)->name;
}

std::span<const std::byte> GoProgram::text_before(std::uint64_t file_vaddr,
                                                  std::size_t count) const {
    const std::uint64_t end = file_vaddr - text.file_vaddr;
    if (end > text.bytes.size()) return {};
    const std::size_t size = std::min<std::uint64_t>(count, end);
    return std::span(text.bytes).subspan(static_cast<std::size_t>(end) - size, size);
}

GoProgram read_go_program(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto elf = elf::ElfFile::open(fd.get());
    if (!elf) {
        ADD_FAILURE() << path << ": " << elf.error().message();
        return {};
    }
    auto program = try_read(*elf, path);
    if (program) return std::move(*program);
    ADD_FAILURE() << path << ": " << program.error().message();
    return {};
}

}  // namespace bobbin::test
