// SPDX-License-Identifier: Apache-2.0
#include "support/damaged_elf.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "support/profile_readers.h"

namespace bobbin::test {
namespace {

// A copy of the object at `offset`; the files are our own fixtures, so offsets are in range.
template <class T>
T object_at(const std::string& file, std::uint64_t offset) {
    T object{};
    std::memcpy(&object, file.data() + offset, sizeof(object));
    return object;
}

std::uint64_t offset_of_eh_frame_header(const std::string& file) {
    const auto elf = object_at<Elf64_Ehdr>(file, 0);
    const auto names = object_at<Elf64_Shdr>(
        file, elf.e_shoff + std::uint64_t{elf.e_shstrndx} * sizeof(Elf64_Shdr));
    for (std::uint64_t i = 0; i < elf.e_shnum; ++i) {
        const std::uint64_t offset = elf.e_shoff + i * sizeof(Elf64_Shdr);
        const auto section = object_at<Elf64_Shdr>(file, offset);
        if (file.compare(names.sh_offset + section.sh_name, sizeof(".eh_frame"), ".eh_frame", 10) ==
            0)
            return offset;
    }
    ADD_FAILURE() << "the fixture has no .eh_frame";
    return 0;
}

void write_program(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    std::filesystem::permissions(path, std::filesystem::perms{0755});
}

}  // namespace

void copy_with_absurd_eh_frame_size(const std::filesystem::path& from,
                                    const std::filesystem::path& to) {
    std::string file = read_whole_file(from);
    const std::uint64_t header_offset = offset_of_eh_frame_header(file);
    auto section = object_at<Elf64_Shdr>(file, header_offset);
    section.sh_size = std::uint64_t{1} << 60;
    std::memcpy(file.data() + header_offset, &section, sizeof(section));
    write_program(to, file);
}

void copy_with_cyclic_cies(const std::filesystem::path& from, const std::filesystem::path& to) {
    // LSB 5.0 chapter 10.6.1.1: the CIE begins at (address of this field) - (value of this field).
    struct SelfNamingFde {
        std::uint32_t length = 12;
        std::uint32_t cie_pointer = sizeof(length);
        std::uint64_t pc_and_range = 0;
    };
    static_assert(sizeof(SelfNamingFde) == 16);

    std::string file = read_whole_file(from);
    const auto section = object_at<Elf64_Shdr>(file, offset_of_eh_frame_header(file));
    const SelfNamingFde fde;
    for (std::uint64_t at = 0; at + sizeof(fde) <= section.sh_size; at += sizeof(fde))
        std::memcpy(file.data() + section.sh_offset + at, &fde, sizeof(fde));
    write_program(to, file);
}

}  // namespace bobbin::test
