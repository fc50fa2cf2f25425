// SPDX-License-Identifier: Apache-2.0
#include "symbolize/elf_symbolizer.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "unit/symbolize/built_program.h"

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// One name an address, "-" where there is none.
std::vector<std::string> flat(const std::vector<std::vector<NamedFrame>>& names) {
    std::vector<std::string> result;
    for (const auto& frames : names) {
        result.push_back(frames.empty() ? "-" : frames.front().system_name);
    }
    return result;
}

std::vector<std::string> names_at(std::vector<std::uint64_t> addresses,
                                  std::vector<elf::Symbol> symbols) {
    const elf::LoadSegment segment{0, 0x10000, 0, 0x10000, true};
    return flat(name_by_symbols(std::move(symbols), std::span(&segment, 1), addresses));
}

TEST(NameBySymbols, ReachesFromTheFirstToTheLastByte) {
    EXPECT_THAT(names_at({0xff, 0x100, 0x10f, 0x110}, {{0x100, 0x10, "f"}}),
                ElementsAre("-", "f", "f", "-"));
}

TEST(NameBySymbols, GivesEqualAddressesEqualNames) {
    EXPECT_THAT(names_at({0x100, 0x100}, {{0x100, 0x10, "f"}}), ElementsAre("f", "f"));
}

TEST(NameBySymbols, StretchesUnsizedSymbolsToTheNext) {
    EXPECT_THAT(names_at({0x100, 0x1ff, 0x200, 0x210, 0x300, 0xffff, 0x10000},
                         {{0x300, 0, "last"}, {0x200, 0x10, "sized"}, {0x100, 0, "first"}}),
                ElementsAre("first", "first", "sized", "-", "last", "last", "-"));
}

TEST(NameBySymbols, DropsUnsizedSymbolsOutsideEverySegment) {
    EXPECT_THAT(names_at({0x10000, 0x20000}, {{0x10000, 0, "f"}}), ElementsAre("-", "-"));
}

TEST(NameBySymbols, PrefersSizedSymbolsAroundUnsizedOnes) {
    EXPECT_THAT(names_at({0x100, 0x150, 0x1a0, 0x250},
                         {{0x100, 0x100, "function"}, {0x150, 0, "label"}, {0x300, 0, "next"}}),
                ElementsAre("function", "function", "function", "-"));
}

TEST(NameBySymbols, PrefersSizedSymbolsOverUnsizedAliases) {
    EXPECT_THAT(names_at({0x100, 0x110}, {{0x100, 0, "a"}, {0x100, 0x10, "b"}}),
                ElementsAre("b", "-"));
}

TEST(NameBySymbols, TakesTheInnermostOfNestedSymbols) {
    EXPECT_THAT(names_at({0x100, 0x120, 0x130, 0x140, 0x1ff},
                         {{0x100, 0x100, "outer"}, {0x120, 0x20, "middle"}, {0x130, 8, "inner"}}),
                ElementsAre("outer", "middle", "inner", "outer", "outer"));
}

TEST(NameBySymbols, TakesTheLaterOfOverlappingSymbols) {
    EXPECT_THAT(
        names_at({0x108, 0x118, 0x128, 0x130}, {{0x100, 0x20, "first"}, {0x110, 0x20, "second"}}),
        ElementsAre("first", "second", "second", "-"));
}

TEST(NameBySymbols, PrefersAliasesWithFewerUnderscoresThenTheAlphabet) {
    EXPECT_THAT(names_at({0x100, 0x200}, {{0x100, 8, "__write"},
                                          {0x100, 8, "write"},
                                          {0x100, 8, "_write"},
                                          {0x200, 8, "zeta"},
                                          {0x200, 8, "alpha"},
                                          {0x200, 8, "beta"}}),
                ElementsAre("write", "alpha"));
}

TEST(NameBySymbols, KeepsSymbolsThatEndBeyondTheAddressSpaceInside) {
    EXPECT_THAT(names_at({kMax - 0x20, kMax - 0x10, kMax - 1}, {{kMax - 0x10, kMax, "f"}}),
                ElementsAre("-", "f", "f"));
}

TEST(NameBySymbols, HasNoNamesWithoutSymbolsAndNoneWithoutAddresses) {
    EXPECT_THAT(names_at({0x100}, {}), ElementsAre("-"));
    EXPECT_TRUE(names_at({}, {{0x100, 8, "f"}}).empty());
}

std::vector<std::string> names_in(const std::string& path,
                                  const std::vector<std::uint64_t>& addresses) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto file = elf::ElfFile::open(fd.get());
    if (!file) {
        ADD_FAILURE() << file.error().message();
        return std::vector<std::string>(addresses.size());
    }
    const auto names = ElfSymbolizer(*file).name(addresses);
    if (names) return flat(*names);
    ADD_FAILURE() << names.error().message();
    return std::vector<std::string>(addresses.size());
}

constexpr const char* kAssembly = R"(
        .text
        .globl  _start
        .type   _start, @function
_start: .skip   16
        .size   _start, 16
        .type   local_sized, @function
local_sized:
        .skip   32
        .size   local_sized, 32
        .skip   64
        .type   unsized, @function
unsized:
        .skip   48
        .type   __twin, @function
        .type   twin, @function
__twin:
twin:   .skip   8
        .size   __twin, 8
        .size   twin, 8
)";

TEST(ElfSymbolizer, NamesAssembly) {
    const test::BuiltProgram program(kAssembly, "a.s", "-nostdlib -no-pie");
    const std::uint64_t start = test::find_nm(program.path(), "_start").vaddr;
    const std::uint64_t unsized = test::find_nm(program.path(), "unsized").vaddr;
    EXPECT_EQ(unsized, start + 16 + 32 + 64);
    EXPECT_THAT(names_in(program.path(), {start, start + 15, start + 16, start + 47, start + 48,
                                          unsized, unsized + 47, unsized + 48, unsized + 56}),
                ElementsAre("_start", "_start", "local_sized", "local_sized", "-", "unsized",
                            "unsized", "twin", "-"));
}

TEST(ElfSymbolizer, FallsBackToDynamicSymbols) {
    const test::BuiltProgram library(
        "int shown(void) { return 1; }\n"
        "static __attribute__((noinline, used)) int hidden(void) "
        "{ return 2; }\n",
        "a.c", "-shared -fPIC -O2");
    const std::uint64_t shown = test::find_nm(library.path(), "shown").vaddr;
    const std::uint64_t hidden = test::find_nm(library.path(), "hidden").vaddr;
    std::vector<std::uint64_t> addresses = {shown, hidden};
    std::sort(addresses.begin(), addresses.end());
    const auto expect_hidden_as = [&](const std::string& name) {
        const auto names = names_in(library.path(), addresses);
        EXPECT_EQ(names[addresses[0] == shown ? 0 : 1], "shown");
        EXPECT_EQ(names[addresses[0] == hidden ? 0 : 1], name);
    };
    expect_hidden_as("hidden");
    EXPECT_EQ(test::output_of("strip --strip-all '" + library.path() + "' 2>&1"), "");
    expect_hidden_as("-");
}

// Every sized function of the C library by its first and its last byte. Functions share code and
// overlap there, so any symbol that nm shows around the byte will do.
TEST(ElfSymbolizer, AgreesWithNmOnTheCLibrary) {
    Dl_info library{};
    ASSERT_NE(::dladdr(reinterpret_cast<const void*>(&::gnu_get_libc_version), &library), 0);
    const std::vector<test::NmSymbol> symbols = test::read_nm(library.dli_fname, "-D");
    std::vector<std::uint64_t> addresses;
    for (const test::NmSymbol& symbol : symbols) {
        if (symbol.size_bytes == 0) continue;
        addresses.push_back(symbol.vaddr);
        addresses.push_back(symbol.vaddr + symbol.size_bytes - 1);
    }
    ASSERT_GT(addresses.size(), 2000U);
    std::sort(addresses.begin(), addresses.end());
    const std::vector<std::string> names = names_in(library.dli_fname, addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const bool agrees = std::any_of(symbols.begin(), symbols.end(), [&](const auto& symbol) {
            return symbol.name == names[i] && addresses[i] >= symbol.vaddr &&
                   addresses[i] - symbol.vaddr < symbol.size_bytes;
        });
        EXPECT_TRUE(agrees) << std::hex << addresses[i] << ' ' << names[i];
    }
}

}  // namespace
}  // namespace bobbin::symbolize
