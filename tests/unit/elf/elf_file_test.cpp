// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "unit/elf/built_elf.h"

namespace bobbin::elf {
namespace {

using test::open_elf;
using test::OpenElf;
using test::output_of;
using test::Workshop;

TEST(ElfFile, HasTheLoadSegmentsThatReadelfPrints) {
    const Workshop workshop;
    const std::string path = workshop.build_library();
    OpenElf elf = open_elf(path);
    //   LOAD           0x001000 0x0000000000001000 0x0000000000001000 0x000121 0x000121 R E 0x1000
    std::istringstream lines(output_of("readelf -lW " + path + " | grep LOAD | tr -d E"));
    std::size_t count = 0;
    for (std::string type, offset, vaddr, paddr, file_size, memory_size, rest;
         lines >> type >> offset >> vaddr >> paddr >> file_size >> memory_size &&
         std::getline(lines, rest);
         ++count) {
        ASSERT_LT(count, elf->load_segments().size());
        const LoadSegment& segment = elf->load_segments()[count];
        EXPECT_EQ(segment.file_offset, std::stoull(offset, nullptr, 16));
        EXPECT_EQ(segment.file_vaddr, std::stoull(vaddr, nullptr, 16));
        EXPECT_EQ(segment.file_size_bytes, std::stoull(file_size, nullptr, 16));
        EXPECT_EQ(segment.memory_size_bytes, std::stoull(memory_size, nullptr, 16));
    }
    EXPECT_EQ(count, elf->load_segments().size());
    EXPECT_EQ(std::ranges::count_if(elf->load_segments(), &LoadSegment::executable), 1);
}

TEST(ElfFile, KnowsPositionIndependence) {
    const Workshop workshop;
    EXPECT_TRUE(open_elf(workshop.build_library())->is_position_independent());
    workshop.run("echo 'int main(void) { return 0; }' | gcc -x c - -no-pie -o fixed");
    EXPECT_FALSE(open_elf(workshop.path("fixed"))->is_position_independent());
}

TEST(ElfFile, HasTheBuildIdThatReadelfPrints) {
    const Workshop workshop;
    const std::string path = workshop.build_library();
    const std::string notes = output_of("readelf -n " + path);
    const std::string build_id = to_hex(open_elf(path)->build_id());
    EXPECT_EQ(build_id.size(), 40U);  // sha1
    EXPECT_THAT(notes, testing::HasSubstr("Build ID: " + build_id));
}

TEST(ElfFile, HasNoBuildIdWhereThereIsNone) {
    const Workshop workshop;
    EXPECT_TRUE(open_elf(workshop.build_library("-Wl,--build-id=none"))->build_id().empty());
}

TEST(ElfFile, ReadsASectionAsObjcopyExtractsIt) {
    const Workshop workshop;
    const std::string path = workshop.build_library();
    workshop.run("objcopy -O binary --only-section=.text library.so text.bin");
    const auto section = open_elf(path)->read_section(".text");
    ASSERT_TRUE(section && *section);
    EXPECT_EQ((*section)->bytes, test::read_image(workshop.path("text.bin")));
    //  [12] .text             PROGBITS        0000000000001040 001040 ...
    const std::string address =
        output_of("readelf -SW " + path + " | grep ' .text ' | sed 's/.*PROGBITS *//'");
    EXPECT_EQ((*section)->file_vaddr, std::stoull(address, nullptr, 16));
}

TEST(ElfFile, HasNothingForSectionsThatAreNotThereOrHaveNoBytes) {
    const Workshop workshop;
    OpenElf elf = open_elf(workshop.build_library());
    EXPECT_EQ(elf->read_section(".no_such_section").value(), std::nullopt);
    EXPECT_EQ(elf->read_section(".tex").value(), std::nullopt);
    EXPECT_EQ(elf->read_section(".bss").value(), std::nullopt);
}

TEST(ElfFile, KnowsWhereASectionLiesEvenIfItsBytesAreElsewhere) {
    const Workshop workshop;
    test::FileImage image = test::read_image(workshop.build_library("-g"));
    workshop.run("objcopy --only-keep-debug library.so library.debug");
    const OpenElf debug_file = open_elf(workshop.path("library.debug"));
    EXPECT_EQ(debug_file->read_section(".text").value(), std::nullopt);
    for (const char* name : {".text", ".bss"}) {
        const Elf64_Shdr& header = test::section_named(image, name);
        const std::optional<SectionPlace> place = debug_file->find_section(name);
        ASSERT_TRUE(place) << name;
        EXPECT_EQ(place->file_vaddr, header.sh_addr) << name;
        EXPECT_EQ(place->size_bytes, header.sh_size) << name;
    }
    EXPECT_EQ(debug_file->find_section(".no_such_section"), std::nullopt);
}

TEST(ElfFile, LeavesTheOffsetOfTheDescriptorAlone) {
    constexpr off_t kOffset = 123;
    const Workshop workshop;
    const UniqueFd fd = test::open_fd(workshop.build_library("-g -gz=zlib"));
    ASSERT_EQ(::lseek(fd.get(), kOffset, SEEK_SET), kOffset);
    const Result<ElfFile> file = ElfFile::open(fd.get());
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->read_section(".debug_info"));
    EXPECT_TRUE(file->read_eh_frame());
    EXPECT_TRUE(file->read_function_symbols());
    EXPECT_EQ(::lseek(fd.get(), 0, SEEK_CUR), kOffset);
}

TEST(ElfFile, ReadsTheVdso) {
    const auto* start = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
    ASSERT_NE(start, nullptr);
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(start);
    const std::size_t size_bytes = header->e_shoff + header->e_shnum * sizeof(Elf64_Shdr);
    const OpenElf vdso = test::open_image({start, size_bytes});
    ASSERT_TRUE(vdso.file);
    const auto eh_frame = vdso->read_eh_frame();
    ASSERT_TRUE(eh_frame && *eh_frame);
    EXPECT_FALSE((*eh_frame)->bytes.empty());
    const auto symbols = vdso->read_function_symbols();
    ASSERT_TRUE(symbols);
    EXPECT_TRUE(std::ranges::any_of(
        *symbols, [](const Symbol& symbol) { return symbol.name == "__vdso_clock_gettime"; }));
}

using SymbolMap = std::map<std::string, std::uint64_t>;

// Functions by nm: "0000000000001100 T global_function".
SymbolMap functions_by_nm(const std::string& command) {
    SymbolMap functions;
    std::istringstream lines(output_of(command));
    for (std::string address, type, name; lines >> address >> type >> name;) {
        if (std::string("tTwWi").find(type) == std::string::npos) continue;
        functions[name.substr(0, name.find('@'))] = std::stoull(address, nullptr, 16);
    }
    return functions;
}

SymbolMap functions_of(const std::string& path) {
    SymbolMap functions;
    const auto symbols = open_elf(path)->read_function_symbols();
    EXPECT_TRUE(symbols);
    for (const Symbol& symbol : *symbols) functions[symbol.name] = symbol.file_vaddr;
    return functions;
}

TEST(ReadFunctionSymbols, AgreesWithNm) {
    const Workshop workshop;
    const std::string path = workshop.build_library();
    const SymbolMap functions = functions_of(path);
    EXPECT_EQ(functions, functions_by_nm("nm --defined-only " + path));
    EXPECT_TRUE(functions.contains("local_function"));
    EXPECT_FALSE(functions.contains("data_object"));
}

TEST(ReadFunctionSymbols, FallsBackToTheDynamicTableOfAStrippedFile) {
    const Workshop workshop;
    const std::string path = workshop.build_library();
    workshop.run("strip library.so");
    const SymbolMap functions = functions_of(path);
    EXPECT_EQ(functions, functions_by_nm("nm -D --defined-only " + path));
    EXPECT_TRUE(functions.contains("global_function"));
    EXPECT_FALSE(functions.contains("local_function"));
}

TEST(ReadFunctionSymbols, GivesTheStatedSizes) {
    const Workshop workshop;
    const auto symbols = open_elf(workshop.build_library())->read_function_symbols();
    ASSERT_TRUE(symbols);
    std::map<std::string, std::uint64_t> sizes;
    for (const Symbol& symbol : *symbols) sizes[symbol.name] = symbol.size_bytes;
    EXPECT_EQ(sizes.at("unsized"), 0U);
    EXPECT_GT(sizes.at("global_function"), 0U);
}

TEST(ReadFunctionSymbols, CutsVersionsOff) {
    const Workshop workshop;
    workshop.run(
        "printf 'V1 { global: versioned; };' > version.map &&"
        "printf 'int first(void) { return 1; } __asm__(\".symver first, versioned@@V1\");' |"
        "gcc -shared -fPIC -x c - -Wl,--version-script=version.map -o versioned.so");
    const std::string path = workshop.path("versioned.so");
    ASSERT_THAT(output_of("readelf -sW " + path), testing::HasSubstr("versioned@@V1"));
    const SymbolMap functions = functions_of(path);
    EXPECT_TRUE(functions.contains("versioned"));
    EXPECT_FALSE(functions.contains("versioned@@V1"));
}

TEST(ReadFunctionSymbols, HasIndirectFunctions) {
    const Workshop workshop;
    workshop.run(
        "printf 'static int one(void) { return 1; } static void *pick(void) { return one; }"
        "int chosen(void) __attribute__((ifunc(\"pick\")));' |"
        "gcc -shared -fPIC -x c - -o chosen.so");
    EXPECT_TRUE(functions_of(workshop.path("chosen.so")).contains("chosen"));
}

TEST(FileOffsetOf, AndItsInverseFollowTheSegments) {
    const LoadSegment segments[] = {
        {.file_offset = 0,
         .file_size_bytes = 0x100,
         .file_vaddr = 0x400000,
         .memory_size_bytes = 0x100,
         .executable = true},
        {.file_offset = 0x1100,
         .file_size_bytes = 0x80,
         .file_vaddr = 0x402100,
         .memory_size_bytes = 0x200,
         .executable = false},
    };
    EXPECT_EQ(file_offset_of(segments, 0x4000ff), 0xffU);
    EXPECT_EQ(file_offset_of(segments, 0x402110), 0x1110U);
    EXPECT_EQ(file_offset_of(segments, 0x402180), std::nullopt);  // .bss
    EXPECT_EQ(file_offset_of(segments, 0x400100), std::nullopt);
    EXPECT_EQ(file_offset_of(segments, 0), std::nullopt);
    EXPECT_EQ(file_vaddr_of(segments, 0x1100), 0x402100U);
    EXPECT_EQ(file_vaddr_of(segments, 0x1180), std::nullopt);
    EXPECT_EQ(file_vaddr_of(segments, 0xfff), std::nullopt);
}

TEST(ToHex, WritesTwoLowerCaseDigitsAByte) {
    const std::byte bytes[] = {std::byte{0x0a}, std::byte{0xff}, std::byte{0}};
    EXPECT_EQ(to_hex(bytes), "0aff00");
    EXPECT_EQ(to_hex({}), "");
}

}  // namespace
}  // namespace bobbin::elf
