// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "elf/elf_file.h"
#include "unit/elf/built_elf.h"

namespace bobbin::elf {
namespace {

using test::FileImage;
using test::header_of;
using test::open_image;
using test::OpenElf;
using test::refusal_of;
using test::section_header;
using test::section_named;
using test::Workshop;
using testing::HasSubstr;

FileImage library_image(const std::string& flags = "-O2") {
    const Workshop workshop;
    return test::read_image(workshop.build_library(flags));
}

std::string refusal_of_fd(int fd) {
    const Result<ElfFile> file = ElfFile::open(fd);
    return file ? "" : file.error().message();
}

std::string section_error(const FileImage& image, std::string_view name) {
    const auto section = open_image(image)->read_section(name);
    return section ? "" : section.error().message();
}

// Everything that ElfFile can be asked; only the absence of a crash matters.
void read_everything(const FileImage& image) {
    const Result<OpenElf> elf = test::try_open_image(image);
    if (!elf) return;
    const ElfFile& file = *elf->file;
    (void)file.read_eh_frame();
    (void)file.read_debug_frame();
    (void)file.read_function_symbols();
    for (const char* name : {".text", ".debug_info", ".symtab"}) (void)file.read_section(name);
}

TEST(HostileElf, RefusesWhatIsNotARegularFile) {
    const Workshop workshop;
    const std::string fifo_path = workshop.path("fifo");
    ASSERT_EQ(::mkfifo(fifo_path.c_str(), 0600), 0);
    for (const std::string& path : {fifo_path, workshop.path(""), std::string("/dev/zero")}) {
        EXPECT_EQ(refusal_of_fd(test::open_fd(path).get()), "not a regular file") << path;
    }
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd read_end(ends[0]);
    const UniqueFd write_end(ends[1]);
    EXPECT_EQ(refusal_of_fd(read_end.get()), "not a regular file");
    EXPECT_THAT(refusal_of_fd(-1), HasSubstr("Bad file descriptor"));
}

TEST(HostileElf, RefusesOtherKindsOfFile) {
    const FileImage original = library_image();
    EXPECT_THAT(refusal_of({}), HasSubstr("too short"));
    EXPECT_THAT(refusal_of(std::span(original).first(63)), HasSubstr("too short"));
    FileImage image = original;
    image[0] = std::byte{'!'};
    EXPECT_EQ(refusal_of(image), "not an ELF file");
    image = original;
    header_of(image).e_ident[EI_CLASS] = ELFCLASS32;
    EXPECT_EQ(refusal_of(image), "not a 64-bit ELF file");
    image = original;
    header_of(image).e_ident[EI_DATA] = ELFDATA2MSB;
    EXPECT_EQ(refusal_of(image), "not a little-endian ELF file");
    image = original;
    header_of(image).e_machine = EM_AARCH64;
    EXPECT_EQ(refusal_of(image), "for machine 183, not x86-64");
    image = original;
    header_of(image).e_type = ET_REL;
    EXPECT_THAT(refusal_of(image), HasSubstr("neither an executable nor a shared object"));
}

TEST(HostileElf, RefusesProgramHeadersThatDoNotFit) {
    const FileImage original = library_image();
    FileImage image = original;
    header_of(image).e_phnum = ElfFile::kMaxSegments + 1;
    EXPECT_THAT(refusal_of(image), HasSubstr("257 program headers"));
    image = original;
    header_of(image).e_phnum = PN_XNUM;
    EXPECT_THAT(refusal_of(image), HasSubstr("65535 program headers"));
    image = original;
    header_of(image).e_phentsize = 32;
    EXPECT_THAT(refusal_of(image), HasSubstr("of 32 bytes"));
    image = original;
    header_of(image).e_phoff = image.size() - 8;
    EXPECT_THAT(refusal_of(image), HasSubstr("leave the file"));
    image = original;
    header_of(image).e_phoff = ~std::uint64_t{0};
    EXPECT_THAT(refusal_of(image), HasSubstr("leave the file"));
}

TEST(HostileElf, RefusesSegmentsWhoseSumsOverflow) {
    const FileImage original = library_image();
    FileImage image = original;
    ASSERT_EQ(test::program_header(image, 0).p_type, std::uint32_t{PT_LOAD});
    test::program_header(image, 0).p_vaddr = ~std::uint64_t{0};
    EXPECT_THAT(refusal_of(image), HasSubstr("impossible sizes"));
    image = original;
    test::program_header(image, 0).p_offset = ~std::uint64_t{0};
    EXPECT_THAT(refusal_of(image), HasSubstr("impossible sizes"));
    image = original;
    test::program_header(image, 0).p_filesz = test::program_header(image, 0).p_memsz + 1;
    EXPECT_THAT(refusal_of(image), HasSubstr("impossible sizes"));
}

// The kernel runs files whose section headers are nonsense, so their unwind information must be
// found all the same.
TEST(HostileElf, TakesAnImpossibleSectionTableForNone) {
    const FileImage original = library_image();
    std::vector<FileImage> images(6, original);
    header_of(images[0]).e_shoff = images[0].size();
    header_of(images[1]).e_shoff = ~std::uint64_t{0};
    header_of(images[2]).e_shnum = 0xfeff;
    header_of(images[3]).e_shentsize = 63;
    header_of(images[4]).e_shnum = 0;  // then the first header's size has the count
    section_header(images[4], 0).sh_size = std::uint64_t{1} << 60;
    header_of(images[5]).e_shstrndx = 0xfe00;
    for (std::size_t i = 0; i < images.size(); ++i) {
        const OpenElf file = open_image(images[i]);
        ASSERT_TRUE(file.file) << i;
        EXPECT_EQ(file->read_section(".text").value(), std::nullopt) << i;
        EXPECT_TRUE(file->read_eh_frame().value().has_value()) << i;
    }
}

TEST(HostileElf, ReadsTheNumberOfSectionsThatTheFirstOneHas) {
    FileImage image = library_image();
    section_header(image, 0).sh_size = header_of(image).e_shnum;
    header_of(image).e_shnum = 0;
    EXPECT_TRUE(open_image(image)->read_section(".text").value().has_value());
}

TEST(HostileElf, RefusesSectionsThatLeaveTheFileOrAreTooLarge) {
    const FileImage original = library_image();
    FileImage image = original;
    section_named(image, ".text").sh_offset = image.size() - 1;
    EXPECT_THAT(section_error(image, ".text"), HasSubstr("section .text: "));
    EXPECT_THAT(section_error(image, ".text"), HasSubstr("leave the file"));
    image = original;
    section_named(image, ".text").sh_offset = ~std::uint64_t{0};
    EXPECT_THAT(section_error(image, ".text"), HasSubstr("leave the file"));
    image = original;
    section_named(image, ".text").sh_size = ElfFile::kMaxSectionBytes + 1;
    EXPECT_THAT(section_error(image, ".text"), HasSubstr("at most 268435456 are read"));
}

// A sparse file costs its owner nothing; read whole it would cost us 8 GiB.
TEST(HostileElf, RefusesALargeSectionOfASparseFile) {
    const Workshop workshop;
    const std::string path = workshop.build_library();
    FileImage image = test::read_image(path);
    section_named(image, ".text").sh_size = std::uint64_t{8} << 30;
    test::write_image(path, image);
    ASSERT_EQ(::truncate(path.c_str(), off_t{16} << 30), 0);
    const auto section = test::open_elf(path)->read_section(".text");
    ASSERT_FALSE(section);
    EXPECT_THAT(section.error().message(), HasSubstr("at most 268435456 are read"));
}

TEST(HostileElf, SaysSoWhenTheFileBecomesShorterWhileItIsRead) {
    const Workshop workshop;
    const std::string path = workshop.build_library();
    test::OpenElf elf = test::open_elf(path);
    ASSERT_EQ(::truncate(path.c_str(), 100), 0);
    const auto section = elf->read_section(".text");
    ASSERT_FALSE(section);
    EXPECT_THAT(section.error().message(), HasSubstr("earlier than it did"));
    EXPECT_FALSE(elf->read_eh_frame());
    EXPECT_FALSE(elf->read_function_symbols());
}

TEST(HostileSymbols, RefusesATableOfOtherEntriesOrWithoutStrings) {
    const FileImage original = library_image();
    const auto error = [](const FileImage& image) {
        const auto symbols = open_image(image)->read_function_symbols();
        return symbols ? "" : symbols.error().message();
    };
    FileImage image = original;
    section_named(image, ".symtab").sh_entsize = 16;
    EXPECT_THAT(error(image), HasSubstr("symbols of .symtab: "));
    image = original;
    section_named(image, ".symtab").sh_link = 0xffff;
    EXPECT_THAT(error(image), HasSubstr("string table is section 65535"));
    image = original;
    section_named(image, ".symtab").sh_size = std::uint64_t{1} << 40;
    EXPECT_THAT(error(image), HasSubstr("at most"));
}

TEST(HostileSymbols, GivesNoNameToSymbolsThatPointPastTheStrings) {
    FileImage image = library_image();
    const Elf64_Shdr table = section_named(image, ".symtab");
    for (std::uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
        test::image_at<Elf64_Sym>(image, table.sh_offset + i * sizeof(Elf64_Sym)).st_name =
            0xfffffff0;
    }
    const auto symbols = open_image(image)->read_function_symbols();
    ASSERT_TRUE(symbols);
    ASSERT_FALSE(symbols->empty());
    for (const Symbol& symbol : *symbols) EXPECT_EQ(symbol.name, "");
}

// 16,384 functions that share one name of 64 KiB: 400 KB of file for 1 GiB of names.
TEST(HostileSymbols, RefusesNamesThatAddUpToMoreThanAFileMayCost) {
    constexpr std::size_t kFunctions = 16384;
    constexpr std::size_t kNameBytes = 65535;
    FileImage image = library_image();
    const std::uint64_t strings_offset = image.size();
    image.resize(image.size() + kNameBytes, std::byte{'x'});
    image.push_back(std::byte{0});
    image.resize((image.size() + 7) / 8 * 8);
    const std::uint64_t symbols_offset = image.size();
    Elf64_Sym symbol{};
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = 0x1000;
    const auto bytes = std::as_bytes(std::span(&symbol, 1));
    for (std::size_t i = 0; i < kFunctions; ++i) {
        image.insert(image.end(), bytes.begin(), bytes.end());
    }
    section_named(image, ".strtab").sh_offset = strings_offset;
    section_named(image, ".strtab").sh_size = kNameBytes + 1;
    section_named(image, ".symtab").sh_offset = symbols_offset;
    section_named(image, ".symtab").sh_size = kFunctions * sizeof(Elf64_Sym);
    const auto symbols = open_image(image)->read_function_symbols();
    ASSERT_FALSE(symbols);
    EXPECT_THAT(symbols.error().message(), HasSubstr("names of "));
}

TEST(HostileElf, SurvivesEveryTruncation) {
    const FileImage original = library_image("-g -gz=zlib");
    for (std::size_t size = 0; size < original.size(); size += size < 4096 ? 16 : 512) {
        read_everything(FileImage(original.begin(), original.begin() + static_cast<long>(size)));
    }
}

TEST(HostileElf, SurvivesEveryChangedByteOfItsHeaders) {
    FileImage image = library_image("-g -gz=zlib");
    const Elf64_Ehdr header = header_of(image);
    const auto damage = [&](std::uint64_t offset, std::uint64_t count) {
        for (std::uint64_t at = offset; at < offset + count; ++at) {
            const std::byte before = image[at];
            for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
                image[at] = static_cast<std::byte>(value);
                read_everything(image);
            }
            image[at] = before;
        }
    };
    damage(0, sizeof(Elf64_Ehdr));
    damage(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
    damage(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
}

}  // namespace
}  // namespace bobbin::elf
