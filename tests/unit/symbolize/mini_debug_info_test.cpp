// SPDX-License-Identifier: Apache-2.0
#include "symbolize/mini_debug_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "symbolize/name_object.h"
#include "unit/symbolize/built_program.h"

namespace bobbin::symbolize {
namespace {

using testing::HasSubstr;

constexpr const char* kSource =
    "__attribute__((noinline)) static int hidden(int x) { return x * 3 + 1; }\n"
    "__attribute__((noinline)) int exported(int x) { return hidden(x) * 5; }\n"
    "int main(int count, char** words) { (void)words; return exported(count); }\n";

// gdb's manual, section "Debugging information in a special section". "$1" is the program.
constexpr const char* kMiniDebugInfo =
    "set -e; cd \"$(dirname \"$1\")\"; "
    "nm -D program --format=posix --defined-only | awk '{ print $1 }' | sort > dynsyms; "
    "nm program --format=posix --defined-only | "
    "awk '{ if ($2 == \"T\" || $2 == \"t\" || $2 == \"D\") print $1 }' | sort > funcsyms; "
    "comm -13 dynsyms funcsyms > keep_symbols; "
    "objcopy --only-keep-debug program debug; "
    "objcopy -S --remove-section .gdb_index --remove-section .comment "
    "--keep-symbols=keep_symbols debug mini; "
    "strip --strip-all -R .comment program; "
    "xz mini; objcopy --add-section .gnu_debugdata=mini.xz program; echo done";

void put_symbols_aside(const std::string& program) {
    const std::string messages = test::output_of("set -- '" + program + "'; " + kMiniDebugInfo);
    EXPECT_EQ(messages, "done\n");
}

std::string name_at(const test::BuiltProgram& program, std::uint64_t vaddr) {
    const UniqueFd fd = program.open();
    const std::vector<std::uint64_t> addresses = {vaddr};
    const auto object = name_object(fd.get(), program.path(), addresses);
    EXPECT_TRUE(object.has_value());
    if (!object || object->names.front().empty()) return "-";
    return object->names.front().front().system_name;
}

TEST(MiniDebugInfo, NamesWhatStripTookAway) {
    const test::BuiltProgram program(kSource, "a.c", "-O2 -g -rdynamic");
    std::vector<test::NmSymbol> symbols;
    for (const test::NmSymbol& symbol : test::read_nm(program.path())) {
        if (symbol.size_bytes != 0) symbols.push_back(symbol);
    }
    put_symbols_aside(program.path());
    EXPECT_TRUE(test::read_nm(program.path()).empty());
    bool has_hidden = false;
    for (const test::NmSymbol& symbol : symbols) {
        has_hidden |= symbol.name == "hidden";
        EXPECT_EQ(name_at(program, symbol.vaddr), symbol.name);
        EXPECT_EQ(name_at(program, symbol.vaddr + symbol.size_bytes - 1), symbol.name);
    }
    EXPECT_TRUE(has_hidden);
}

TEST(MiniDebugInfo, CostsNothingButItselfWhenItIsDamaged) {
    const test::BuiltProgram program(kSource, "a.c", "-O2 -rdynamic");
    const std::uint64_t exported = test::find_nm(program.path(), "exported").vaddr;
    const std::uint64_t hidden = test::find_nm(program.path(), "hidden").vaddr;
    test::output_of("cd \"$(dirname '" + program.path() +
                    "')\" && echo nonsense > data && strip program && "
                    "objcopy --add-section .gnu_debugdata=data program");
    EXPECT_EQ(name_at(program, exported), "exported");
    EXPECT_EQ(name_at(program, hidden), "-");
}

std::vector<std::byte> xz_of(const std::vector<std::byte>& bytes) {
    std::vector<std::byte> out(::lzma_stream_buffer_bound(bytes.size()));
    std::size_t size = 0;
    EXPECT_EQ(::lzma_easy_buffer_encode(
                  0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                  bytes.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
              LZMA_OK);
    out.resize(size);
    return out;
}

std::string error_of(const std::vector<std::byte>& compressed) {
    const auto symbols = read_mini_debug_symbols(compressed);
    return symbols ? "" : symbols.error().message();
}

TEST(ReadMiniDebugSymbols, StopsAtItsLimitWhenTheStreamHasNoEnd) {
    const auto bomb = xz_of(std::vector<std::byte>(kMaxMiniDebugBytes + 1));
    EXPECT_LT(bomb.size(), kMaxMiniDebugBytes / 1000);
    EXPECT_THAT(error_of(bomb), HasSubstr("more than 67108864 bytes"));
}

// The .xz file format 1.0.4, section 3.1: behind the 12 bytes of the stream's header comes the
// block's, with its own size, flags, two sizes, LZMA2's number 0x21, the count of its properties,
// 1, this one, padding and a CRC32.
TEST(ReadMiniDebugSymbols, RefusesADictionaryLargerThanItsMemory) {
    auto stream = xz_of(std::vector<std::byte>(100));
    constexpr std::size_t kBlock = 12;
    const std::size_t size = (std::to_integer<std::size_t>(stream[kBlock]) + 1) * 4;
    const std::span<std::byte> header = std::span(stream).subspan(kBlock, size);
    const std::vector<std::byte> lzma2 = {std::byte{0x21}, std::byte{1}};
    const auto found = std::ranges::search(header, lzma2);
    ASSERT_FALSE(found.empty());
    *found.end() = std::byte{40};  // 4 GiB
    const std::uint32_t crc =
        ::lzma_crc32(reinterpret_cast<const std::uint8_t*>(header.data()), size - 4, 0);
    std::memcpy(&header[size - 4], &crc, sizeof(crc));
    EXPECT_THAT(error_of(stream), HasSubstr("error 6"));  // LZMA_MEMLIMIT_ERROR
}

TEST(ReadMiniDebugSymbols, RefusesWhatIsCutOffOrNoElfFile) {
    auto stream = xz_of(std::vector<std::byte>(1000));
    EXPECT_THAT(error_of(stream), HasSubstr("not a 64-bit little-endian ELF file"));
    stream.resize(stream.size() - 20);
    EXPECT_THAT(error_of(stream), HasSubstr("decompress xz"));
    EXPECT_NE(error_of({}), "");
}

}  // namespace
}  // namespace bobbin::symbolize
