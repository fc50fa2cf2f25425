// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "elf/elf_file.h"
#include "unit/elf/built_elf.h"

namespace bobbin::elf {
namespace {

using test::FileImage;
using test::open_image;
using test::OpenElf;
using test::Workshop;

FileImage library_image(const std::string& flags = "-O2") {
    const Workshop workshop;
    return test::read_image(workshop.build_library(flags));
}

Elf64_Phdr& eh_frame_program_header(FileImage& image) {
    for (std::size_t i = 0; i < test::header_of(image).e_phnum; ++i) {
        Elf64_Phdr& header = test::program_header(image, i);
        if (header.p_type == PT_GNU_EH_FRAME) return header;
    }
    ADD_FAILURE() << "no PT_GNU_EH_FRAME";
    return test::program_header(image, 0);
}

std::string error_of(const FileImage& image) {
    const auto section = open_image(image)->read_eh_frame();
    return section ? "" : section.error().message();
}

TEST(ReadEhFrame, FindsTheSectionByItsHeader) {
    FileImage image = library_image();
    const auto section = open_image(image)->read_eh_frame();
    ASSERT_TRUE(section && *section);
    const Elf64_Shdr& header = test::section_named(image, ".eh_frame");
    EXPECT_EQ((*section)->bytes.size(), header.sh_size);
    EXPECT_EQ((*section)->file_vaddr, header.sh_addr);
}

TEST(ReadEhFrame, FindsItThroughTheProgramHeadersWhereSectionHeadersAreStripped) {
    FileImage image = library_image();
    const auto by_section = open_image(image)->read_eh_frame();
    ASSERT_TRUE(by_section && *by_section);
    const OpenElf stripped = open_image(test::without_section_headers(image));
    ASSERT_TRUE(stripped.file);
    EXPECT_EQ(stripped->read_section(".eh_frame").value(), std::nullopt);
    EXPECT_TRUE(stripped->read_function_symbols()->empty());
    const auto by_program_header = stripped->read_eh_frame();
    ASSERT_TRUE(by_program_header && *by_program_header);
    EXPECT_EQ((*by_program_header)->file_vaddr, (*by_section)->file_vaddr);
    // It goes on to the end of its segment, so the section is a prefix.
    ASSERT_GE((*by_program_header)->bytes.size(), (*by_section)->bytes.size());
    EXPECT_TRUE(std::ranges::equal(
        (*by_section)->bytes,
        std::span((*by_program_header)->bytes).first((*by_section)->bytes.size())));
}

// The same address in each encoding that fits; LSB 5.0 section 10.5.1.
TEST(ReadEhFrame, DecodesThePointerOfTheHeaderInEveryForm) {
    const FileImage original = test::without_section_headers(library_image());
    const std::uint64_t expected = (*open_image(original)->read_eh_frame())->file_vaddr;
    struct Form {
        std::uint8_t encoding;
        std::size_t size_bytes;
        bool pc_relative;
        bool data_relative;
    };
    constexpr std::array<Form, 8> kForms = {{{0x00, 8, false, false},
                                             {0x03, 4, false, false},
                                             {0x04, 8, false, false},
                                             {0x0b, 4, false, false},
                                             {0x1b, 4, true, false},
                                             {0x1c, 8, true, false},
                                             {0x3b, 4, false, true},
                                             {0x34, 8, false, true}}};
    for (const Form& form : kForms) {
        FileImage image = original;
        const Elf64_Phdr header = eh_frame_program_header(image);
        std::uint64_t value = expected;
        if (form.pc_relative) value -= header.p_vaddr + 4;
        if (form.data_relative) value -= header.p_vaddr;
        image[header.p_offset + 1] = std::byte{form.encoding};
        std::memcpy(&image[header.p_offset + 4], &value, form.size_bytes);
        const auto section = open_image(image)->read_eh_frame();
        ASSERT_TRUE(section && *section) << int{form.encoding};
        EXPECT_EQ((*section)->file_vaddr, expected) << int{form.encoding};
    }
}

TEST(ReadEhFrame, SaysWhatIsWrongWithTheHeader) {
    const FileImage original = test::without_section_headers(library_image());
    FileImage image = original;
    const std::uint64_t offset = eh_frame_program_header(image).p_offset;
    image[offset] = std::byte{9};
    EXPECT_THAT(error_of(image), testing::HasSubstr("malformed .eh_frame_hdr"));
    image = original;
    image[offset + 1] = std::byte{0x2b};  // textrel
    EXPECT_THAT(error_of(image), testing::HasSubstr("has encoding 0x2b"));
    image[offset + 1] = std::byte{0xff};  // omitted
    EXPECT_THAT(error_of(image), testing::HasSubstr("has encoding 0xff"));
    image = original;
    eh_frame_program_header(image).p_filesz = 6;
    EXPECT_THAT(error_of(image), testing::HasSubstr("malformed .eh_frame_hdr"));
    image = original;
    image[offset + 1] = std::byte{0x03};  // udata4, of an address that is relative
    test::image_at<std::uint32_t>(image, offset + 4) = 0xfffffff0;
    EXPECT_THAT(error_of(image), testing::HasSubstr("lies in no segment"));
    image = original;
    eh_frame_program_header(image).p_offset = image.size() - 2;
    EXPECT_THAT(error_of(image), testing::HasSubstr("leave the file"));
}

TEST(ReadEhFrame, HasNothingWhereThereIsNothing) {
    FileImage image = test::without_section_headers(library_image());
    eh_frame_program_header(image).p_type = PT_NULL;
    EXPECT_EQ(open_image(image)->read_eh_frame().value(), std::nullopt);
}

// Separate debug files have the header of the section but none of its bytes. eu-strip leaves them
// the program headers too, which then point at bytes of something else.
TEST(ReadEhFrame, HasNothingInASeparateDebugFile) {
    const Workshop workshop;
    const std::string library = workshop.build_library("-g");
    workshop.run("objcopy --only-keep-debug library.so library.debug");
    const OpenElf debug_file = test::open_elf(workshop.path("library.debug"));
    EXPECT_EQ(debug_file->read_eh_frame().value(), std::nullopt);

    FileImage image = test::read_image(library);
    test::section_named(image, ".eh_frame").sh_type = SHT_NOBITS;
    test::section_named(image, ".eh_frame_hdr").sh_type = SHT_NOBITS;
    image[eh_frame_program_header(image).p_offset] = std::byte{9};
    ASSERT_GT(eh_frame_program_header(image).p_filesz, 0U);
    EXPECT_EQ(open_image(image)->read_eh_frame().value(), std::nullopt);
}

}  // namespace
}  // namespace bobbin::elf
