// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <endian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "elf/elf_file.h"
#include "unit/elf/built_elf.h"

namespace bobbin::elf {
namespace {

using test::FileImage;
using test::open_elf;
using test::open_image;
using test::section_named;
using test::Workshop;
using testing::HasSubstr;

// The names of a header make .debug_str large enough to be worth compressing, and functions that
// have no .eh_frame make .debug_frame so.
void build_with_debug_sections(const Workshop& workshop, const std::string& flags) {
    workshop.run(
        "printf '#include <stdio.h>\\n' > io.c && for i in $(seq 99); do"
        " printf 'int f%d(FILE *x) { return fgetc(x) + %d; }\\n' $i $i; done >> io.c &&"
        "gcc -shared -fPIC -O2 -g3 -fno-asynchronous-unwind-tables io.c -o io.so " +
        flags);
}

// What objcopy has of a section after decompressing it.
FileImage bytes_by_objcopy(const Workshop& workshop, const std::string& section) {
    workshop.run("objcopy --decompress-debug-sections io.so plain.so && objcopy --dump-section " +
                 section + "=section.bin plain.so");
    return test::read_image(workshop.path("section.bin"));
}

TEST(CompressedSection, GivesTheBytesThatObjcopyDecompresses) {
    const Workshop workshop;
    build_with_debug_sections(workshop, "-gz=zlib");
    FileImage image = test::read_image(workshop.path("io.so"));
    ASSERT_NE(section_named(image, ".debug_str").sh_flags & SHF_COMPRESSED, 0U);
    const auto section = open_elf(workshop.path("io.so"))->read_section(".debug_str");
    ASSERT_TRUE(section && *section);
    EXPECT_EQ((*section)->bytes, bytes_by_objcopy(workshop, ".debug_str"));
    EXPECT_GT((*section)->bytes.size(), section_named(image, ".debug_str").sh_size);
}

TEST(CompressedSection, MayHaveTheFormOfOldBinutils) {
    const Workshop workshop;
    build_with_debug_sections(workshop, "-gz=zlib-gnu");
    const auto section = open_elf(workshop.path("io.so"))->read_section(".zdebug_str");
    ASSERT_TRUE(section && *section);
    EXPECT_EQ((*section)->bytes, bytes_by_objcopy(workshop, ".debug_str"));
}

TEST(CompressedSection, SaysHowLongItWillBeBeforeItIsRead) {
    for (const std::string form : {"zlib", "zlib-gnu", "none"}) {
        const Workshop workshop;
        build_with_debug_sections(workshop, "-gz=" + form);
        const std::string name = form == "zlib-gnu" ? ".zdebug_str" : ".debug_str";
        const test::OpenElf elf = open_elf(workshop.path("io.so"));
        EXPECT_EQ(elf->section_bytes(name), bytes_by_objcopy(workshop, ".debug_str").size())
            << form;
        EXPECT_EQ(elf->section_bytes(".bss"), 0U) << "it has no bytes in the file";
        EXPECT_EQ(elf->section_bytes(".no_such_section"), 0U);
    }
}

TEST(CompressedSection, IsReadUpToTheSizeThatTheCallerAllows) {
    const Workshop workshop;
    build_with_debug_sections(workshop, "-gz=zlib");
    const std::uint64_t size = bytes_by_objcopy(workshop, ".debug_str").size();
    const test::OpenElf elf = open_elf(workshop.path("io.so"));
    EXPECT_TRUE(elf->read_section(".debug_str", size));
    const auto refused = elf->read_section(".debug_str", size - 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(), "section .debug_str: " + std::to_string(size) +
                                             " bytes decompressed; at most " +
                                             std::to_string(size - 1) + " are read");
    EXPECT_FALSE(elf->read_section(".text", 1));
}

TEST(ReadDebugFrame, FindsItPlainAndCompressedInBothForms) {
    for (const char* flags : {"-gz=none", "-gz=zlib", "-gz=zlib-gnu"}) {
        const Workshop workshop;
        build_with_debug_sections(workshop, flags);
        const auto section = open_elf(workshop.path("io.so"))->read_debug_frame();
        ASSERT_TRUE(section && *section) << flags;
        EXPECT_EQ((*section)->bytes, bytes_by_objcopy(workshop, ".debug_frame")) << flags;
    }
}

TEST(ReadDebugFrame, HasNothingWhereThereIsNone) {
    const Workshop workshop;
    EXPECT_EQ(open_elf(workshop.build_library("-g"))->read_debug_frame().value(), std::nullopt);
}

class DamagedCompression : public testing::Test {
protected:
    void build(const std::string& flags, const std::string& section) {
        const Workshop workshop;
        build_with_debug_sections(workshop, flags);
        image_ = test::read_image(workshop.path("io.so"));
        section_ = section;
    }
    Elf64_Chdr& compression_header() {
        return test::image_at<Elf64_Chdr>(image_, section_header().sh_offset);
    }
    Elf64_Shdr& section_header() { return section_named(image_, section_); }
    // Big-endian and aligned to nothing.
    [[nodiscard]] std::uint64_t gnu_size() {
        std::uint64_t stored = 0;
        std::memcpy(&stored, &image_[section_header().sh_offset + 4], sizeof(stored));
        return be64toh(stored);
    }
    void set_gnu_size(std::uint64_t size_bytes) {
        const std::uint64_t stored = htobe64(size_bytes);
        std::memcpy(&image_[section_header().sh_offset + 4], &stored, sizeof(stored));
    }
    std::string error() {
        const auto section = open_image(image_)->read_section(section_);
        return section ? "" : section.error().message();
    }

    FileImage image_;
    std::string section_;
};

TEST_F(DamagedCompression, NamesTheMethodThatItDoesNotKnow) {
    build("-gz=zlib", ".debug_str");
    constexpr std::uint32_t kZstd = 2;  // gABI: ELFCOMPRESS_ZSTD
    compression_header().ch_type = kZstd;
    EXPECT_THAT(error(), HasSubstr("compressed with method 2; only zlib (1) is supported"));
}

TEST_F(DamagedCompression, RefusesToUnpackABomb) {
    build("-gz=zlib", ".debug_str");
    compression_header().ch_size = ElfFile::kMaxSectionBytes + 1;
    EXPECT_THAT(error(), HasSubstr("268435457 bytes decompressed; at most"));
    compression_header().ch_size = ~std::uint64_t{0};
    EXPECT_THAT(error(), HasSubstr("bytes decompressed; at most"));
    build("-gz=zlib-gnu", ".zdebug_str");
    set_gnu_size(ElfFile::kMaxSectionBytes + 1);
    EXPECT_THAT(error(), HasSubstr("268435457 bytes decompressed; at most"));
}

// 64 MiB would need 63.5 KiB of Deflate's densest code; the sections have some 6 KiB.
TEST_F(DamagedCompression, RefusesARatioThatDeflateCannotReach) {
    constexpr std::uint64_t kStated = std::uint64_t{64} << 20;
    build("-gz=zlib", ".debug_str");
    ASSERT_LT(section_header().sh_size, 60000U);
    compression_header().ch_size = kStated;
    EXPECT_THAT(error(), HasSubstr("67108864 bytes cannot be compressed to"));
    build("-gz=zlib-gnu", ".zdebug_str");
    set_gnu_size(kStated);
    EXPECT_THAT(error(), HasSubstr("67108864 bytes cannot be compressed to"));
}

TEST_F(DamagedCompression, SaysThatTheSizeIsNotTheOneStated) {
    build("-gz=zlib", ".debug_str");
    ++compression_header().ch_size;
    EXPECT_THAT(error(), HasSubstr("decompress"));
    build("-gz=zlib-gnu", ".zdebug_str");
    set_gnu_size(gnu_size() + 1);
    EXPECT_THAT(error(), HasSubstr("decompress"));
}

TEST_F(DamagedCompression, RefusesASectionWithoutRoomForItsHeader) {
    build("-gz=zlib", ".debug_str");
    section_header().sh_size = sizeof(Elf64_Chdr) - 1;
    EXPECT_THAT(error(), HasSubstr("compressed, without a header"));
    build("-gz=zlib-gnu", ".zdebug_str");
    section_header().sh_size = 11;
    EXPECT_THAT(error(), HasSubstr("compressed, without a header"));
}

TEST_F(DamagedCompression, RefusesAnOldSectionThatDoesNotBeginAsOne) {
    build("-gz=zlib-gnu", ".zdebug_str");
    image_[section_header().sh_offset] = std::byte{'z'};
    EXPECT_THAT(error(), HasSubstr("compressed, without a header"));
}

}  // namespace
}  // namespace bobbin::elf
