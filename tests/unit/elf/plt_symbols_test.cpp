// SPDX-License-Identifier: Apache-2.0
#include "elf/plt_symbols.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "unit/elf/built_elf.h"

namespace bobbin::elf {
namespace {

using NameByAddress = std::map<std::uint64_t, std::string>;

// "0000000000001030 <puts@plt>:", of stubs with a name alone.
NameByAddress names_by_objdump(const std::string& path) {
    NameByAddress names;
    std::istringstream lines(test::output_of("objdump -d '" + path + "'"));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t open = line.find(" <");
        if (open == std::string::npos || !line.ends_with("@plt>:")) continue;
        if (line[0] != '0') continue;
        const std::string name = line.substr(open + 2, line.size() - open - 4);
        names[std::stoull(line.substr(0, open), nullptr, 16)] = name;
    }
    return names;
}

// A program that calls three functions of libc, one of which it also takes the address of.
std::string build_caller(const test::Workshop& shop, const std::string& flags) {
    std::ofstream(shop.path("caller.c")) << "#include <stdio.h>\n#include <stdlib.h>\n"
                                            "int (*volatile taken)(const char*) = puts;\n"
                                            "int main(void) { puts(\"\"); taken(\"\");\n"
                                            "    return abs(rand()) + getpid(); }\n";
    shop.run("gcc -w -O0 -fno-builtin " + flags + " caller.c -o caller");
    return shop.path("caller");
}

NameByAddress names_of(const std::string& path, const NameByAddress& expected) {
    const test::OpenElf file = test::open_elf(path);
    std::vector<std::uint64_t> addresses;
    for (const auto& [address, name] : expected) addresses.push_back(address);
    NameByAddress names;
    for (const Symbol& symbol : read_plt_symbols(*file.file, addresses)) {
        names[symbol.file_vaddr] = symbol.name;
    }
    return names;
}

class PltSymbols : public testing::TestWithParam<const char*> {};

TEST_P(PltSymbols, AreThoseOfObjdump) {
    const test::Workshop shop;
    const std::string path = build_caller(shop, GetParam());
    const NameByAddress expected = names_by_objdump(path);
    EXPECT_GE(expected.size(), 4U) << "puts, abs, rand, getpid, or __cxa_finalize";
    EXPECT_EQ(names_of(path, expected), expected);
}

INSTANTIATE_TEST_SUITE_P(Linked, PltSymbols,
                         testing::Values("-pie -fPIE -Wl,-z,lazy", "-pie -fPIE -Wl,-z,now",
                                         "-no-pie -Wl,-z,lazy",
                                         "-pie -fPIE -fcf-protection -Wl,-z,ibtplt -Wl,-z,lazy",
                                         "-pie -fPIE -fcf-protection -Wl,-z,ibtplt -Wl,-z,now"));

TEST(FindPltSymbols, HasNoNameForWhatMakesNoSense) {
    PltSections sections;
    EXPECT_TRUE(find_plt_symbols(sections).empty());
    SectionBytes stub;
    stub.file_vaddr = 0x1000;
    for (const int byte : {0xff, 0x25, 0, 0, 0, 0x80, 0x68, 0xff, 0xff, 0xff, 0xff}) {
        stub.bytes.push_back(static_cast<std::byte>(byte));
    }
    sections.stubs = {stub, {}};
    EXPECT_TRUE(find_plt_symbols(sections).empty());
    // A slot of symbol 7 of none, and of one whose name lies outside.
    Elf64_Rela relocation{};
    relocation.r_offset = 0x1006 - 0x80000000ULL;
    relocation.r_info = ELF64_R_INFO(7, R_X86_64_JUMP_SLOT);
    const auto bytes = std::as_bytes(std::span(&relocation, 1));
    sections.plt_relocations.assign(bytes.begin(), bytes.end());
    EXPECT_TRUE(find_plt_symbols(sections).empty());
    sections.symbols.resize(8 * sizeof(Elf64_Sym), std::byte{0x7f});
    EXPECT_TRUE(find_plt_symbols(sections).empty());
    sections.strings.resize(0x7f7f7f7f % 4096, std::byte{'a'});
    EXPECT_TRUE(find_plt_symbols(sections).empty());
}

TEST(FindPltSymbols, NamesAStubByItsSlot) {
    PltSections sections;
    SectionBytes stub;
    stub.file_vaddr = 0x1000;
    for (const int byte : {0xff, 0x25, 0xfa, 0x0f, 0, 0, 0x66, 0x90}) {  // jmp *0x2000; xchg
        stub.bytes.push_back(static_cast<std::byte>(byte));
    }
    sections.stubs = {stub};
    Elf64_Rela relocation{};
    relocation.r_offset = 0x2000;
    relocation.r_info = ELF64_R_INFO(1, R_X86_64_GLOB_DAT);
    const auto bytes = std::as_bytes(std::span(&relocation, 1));
    sections.relocations.assign(bytes.begin(), bytes.end());
    std::array<Elf64_Sym, 2> symbols{};
    symbols[1].st_name = 1;
    const auto symbol_bytes = std::as_bytes(std::span(symbols));
    sections.symbols.assign(symbol_bytes.begin(), symbol_bytes.end());
    for (const char letter : std::string_view("\0read\0", 6)) {
        sections.strings.push_back(static_cast<std::byte>(letter));
    }
    const std::vector<Symbol> found = find_plt_symbols(sections);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].name, "read@plt");
    EXPECT_EQ(found[0].file_vaddr, 0x1000U);
}

}  // namespace
}  // namespace bobbin::elf
