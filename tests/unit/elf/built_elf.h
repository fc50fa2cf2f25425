// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "support/output_of.h"
#include "support/temporary_directory.h"

namespace bobbin::elf::test {

using FileImage = std::vector<std::byte>;

inline FileImage read_image(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

inline void write_image(const std::filesystem::path& path, std::span<const std::byte> image) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(image.data()),
                 static_cast<std::streamsize>(image.size()));
}

using bobbin::test::output_of;

// A directory with files that a compiler made, gone at the end of the test.
class Workshop {
public:
    [[nodiscard]] std::string path(std::string_view name) const { return directory_ / name; }

    // Runs a command in the directory.
    void run(const std::string& command) const {
        const std::string in_directory = "cd '" + directory_.path().string() + "' && " + command;
        EXPECT_EQ(std::system(in_directory.c_str()), 0) << command;
    }

    // The path of a shared library of three functions: one global, one local, one in assembly.
    [[nodiscard]] std::string build_library(const std::string& flags = "-O2") const {
        std::ofstream(path("library.c"))
            << "static __attribute__((noinline)) int local_function(int x) { return x * 3; }\n"
               "int global_function(int x) { return local_function(x) + 1; }\n"
               "__asm__(\".text; .globl unsized; .type unsized,@function; unsized: ret\");\n"
               "int data_object = 7;\n";
        run("gcc -shared -fPIC -Wl,--build-id=sha1 " + flags + " library.c -o library.so");
        return path("library.so");
    }

private:
    bobbin::test::TemporaryDirectory directory_;
};

inline UniqueFd open_fd(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    EXPECT_TRUE(fd.is_open()) << path;
    return fd;
}

// A file and the descriptor that it borrows.
struct OpenElf {
    UniqueFd fd;
    std::optional<ElfFile> file;

    const ElfFile* operator->() const { return &*file; }
};

inline OpenElf open_elf(const std::string& path) {
    OpenElf elf{open_fd(path), std::nullopt};
    Result<ElfFile> file = ElfFile::open(elf.fd.get());
    EXPECT_TRUE(file.has_value()) << path << ": " << file.error().message();
    if (file) elf.file = std::move(*file);
    return elf;
}

// An image, written to a file without a name.
inline Result<OpenElf> try_open_image(std::span<const std::byte> image) {
    UniqueFd fd(::memfd_create("image", MFD_CLOEXEC));
    EXPECT_EQ(::write(fd.get(), image.data(), image.size()), static_cast<ssize_t>(image.size()));
    BOBBIN_TRY(ElfFile file, ElfFile::open(fd.get()));
    return OpenElf{std::move(fd), std::move(file)};
}

inline OpenElf open_image(std::span<const std::byte> image) {
    Result<OpenElf> elf = try_open_image(image);
    EXPECT_TRUE(elf.has_value()) << elf.error().message();
    return elf ? std::move(*elf) : OpenElf{};
}

// "" if it can be opened.
inline std::string refusal_of(std::span<const std::byte> image) {
    const Result<OpenElf> elf = try_open_image(image);
    return elf ? "" : elf.error().message();
}

// One of the structures in an image, to be changed: image_at<Elf64_Ehdr>(image, 0).e_type = ...
template <class T>
T& image_at(FileImage& image, std::uint64_t offset) {
    EXPECT_LE(offset + sizeof(T), image.size());
    return *reinterpret_cast<T*>(image.data() + offset);
}

inline Elf64_Ehdr& header_of(FileImage& image) { return image_at<Elf64_Ehdr>(image, 0); }

inline Elf64_Phdr& program_header(FileImage& image, std::size_t index) {
    return image_at<Elf64_Phdr>(image, header_of(image).e_phoff + index * sizeof(Elf64_Phdr));
}

inline Elf64_Shdr& section_header(FileImage& image, std::size_t index) {
    return image_at<Elf64_Shdr>(image, header_of(image).e_shoff + index * sizeof(Elf64_Shdr));
}

inline Elf64_Shdr& section_named(FileImage& image, std::string_view name) {
    const Elf64_Ehdr& header = header_of(image);
    const std::uint64_t names = section_header(image, header.e_shstrndx).sh_offset;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr& section = section_header(image, i);
        const auto* text = reinterpret_cast<const char*>(image.data() + names + section.sh_name);
        if (name == text) return section;
    }
    ADD_FAILURE() << "no section " << name;
    return section_header(image, 0);
}

// As a packer leaves it: the kernel runs such a file.
inline FileImage without_section_headers(FileImage image) {
    Elf64_Ehdr& header = header_of(image);
    header.e_shoff = 0;
    header.e_shnum = 0;
    header.e_shstrndx = 0;
    return image;
}

}  // namespace bobbin::elf::test
