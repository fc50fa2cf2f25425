// SPDX-License-Identifier: Apache-2.0
#include "elf/section_table.h"

#include <endian.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>

#include "base/byte_reader.h"
#include "elf/elf_file.h"

namespace bobbin::elf {
namespace {

struct EndElf {
    void operator()(::Elf* elf) const { ::elf_end(elf); }
};
using ElfHandle = std::unique_ptr<::Elf, EndElf>;

// ELF_C_READ makes libelf use pread; ELF_C_READ_MMAP would be a SIGBUS away from a truncated file.
Result<ElfHandle> begin_elf(const FileBytes& file) {
    static std::once_flag version_is_set;
    std::call_once(version_is_set, [] { ::elf_version(EV_CURRENT); });
    ElfHandle elf(::elf_begin(file.fd(), ELF_C_READ, nullptr));
    if (!elf) return fail("libelf: {}", ::elf_errmsg(-1));
    return elf;
}

// How many section headers there are; 0 where the table is not whole. gABI: a count of 0 with a
// table means that the first header's sh_size has it.
std::uint64_t count_headers(const FileBytes& file, const Elf64_Ehdr& header) {
    if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return 0;
    std::uint64_t count = header.e_shnum;
    if (count == 0) {
        const auto first = file.read_array<Elf64_Shdr>(header.e_shoff, 1);
        count = first ? first->front().sh_size : 0;
    }
    const bool whole =
        count <= ElfFile::kMaxSections && file.contains(header.e_shoff, count * sizeof(Elf64_Shdr));
    return whole ? count : 0;
}

Result<std::vector<Elf64_Shdr>> copy_headers(::Elf* elf) {
    std::size_t count = 0;
    if (::elf_getshdrnum(elf, &count) != 0) return fail("libelf: {}", ::elf_errmsg(-1));
    if (count > ElfFile::kMaxSections) return fail("{} sections", count);
    std::vector<Elf64_Shdr> headers(count);
    for (std::size_t i = 0; i < count; ++i) {
        static_assert(std::is_same_v<GElf_Shdr, Elf64_Shdr>);
        if (::gelf_getshdr(::elf_getscn(elf, i), &headers[i]) == nullptr) {
            return fail("section {}: libelf: {}", i, ::elf_errmsg(-1));
        }
    }
    return headers;
}

enum class Compression : std::uint8_t {
    kGabi,  // SHF_COMPRESSED: Elf64_Chdr, then the stream
    kGnu,   // .zdebug_*, binutils before 2.26: "ZLIB", the size as a big-endian word, the stream
};

Result<> check_size(std::uint64_t size_bytes, std::uint64_t max_bytes) {
    if (size_bytes <= max_bytes) return {};
    return fail("{} bytes; at most {} are read", size_bytes, max_bytes);
}

Result<std::uint64_t> read_gabi_size(std::span<const std::byte> section) {
    ByteReader reader(section);
    const auto header = reader.read<Elf64_Chdr>();
    if (!reader.ok()) return fail("compressed, without a header");
    if (header.ch_type != ELFCOMPRESS_ZLIB) {
        return fail("compressed with method {}; only zlib ({}) is supported", header.ch_type,
                    ELFCOMPRESS_ZLIB);
    }
    return header.ch_size;
}

Result<std::uint64_t> read_gnu_size(std::span<const std::byte> section) {
    constexpr std::string_view kMagic = "ZLIB";
    ByteReader reader(section);
    const std::span<const std::byte> magic = reader.bytes(kMagic.size());
    const std::uint64_t size_bytes = be64toh(reader.u64());
    if (!reader.ok() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
        return fail("compressed, without a header");
    }
    return size_bytes;
}

// The size that the section states, found fit to be allocated: libelf does so before it unpacks.
Result<std::uint64_t> read_unpacked_size(std::span<const std::byte> section,
                                         Compression compression, std::uint64_t max_bytes) {
    // Deflate makes at most 258 bytes out of two bits.
    constexpr std::uint64_t kMaxRatio = 1032;
    BOBBIN_TRY(const std::uint64_t size_bytes, compression == Compression::kGabi
                                                   ? read_gabi_size(section)
                                                   : read_gnu_size(section));
    if (size_bytes > max_bytes) {
        return fail("{} bytes decompressed; at most {} are read", size_bytes, max_bytes);
    }
    if (size_bytes / kMaxRatio > section.size()) {
        return fail("{} bytes cannot be compressed to {}", size_bytes, section.size());
    }
    return size_bytes;
}

std::span<const std::byte> view_of(const ::Elf_Data& data) {
    return {static_cast<const std::byte*>(data.d_buf), data.d_size};
}

// Everything is checked on what libelf holds by then: between two reads of the file its owner may
// change it.
Result<std::vector<std::byte>> decompress(const FileBytes& file, std::size_t index,
                                          Compression compression, std::uint64_t max_bytes) {
    BOBBIN_TRY(const ElfHandle elf, begin_elf(file));
    ::Elf_Scn* section = ::elf_getscn(elf.get(), index);
    GElf_Shdr header{};
    if (::gelf_getshdr(section, &header) == nullptr) return fail("libelf: {}", ::elf_errmsg(-1));
    BOBBIN_CHECK(check_size(header.sh_size, max_bytes));
    const ::Elf_Data* data = ::elf_rawdata(section, nullptr);
    if (data == nullptr) return fail("libelf: {}", ::elf_errmsg(-1));
    BOBBIN_TRY(const std::uint64_t size_bytes,
               read_unpacked_size(view_of(*data), compression, max_bytes));
    const int status = compression == Compression::kGabi ? ::elf_compress(section, 0, 0)
                                                         : ::elf_compress_gnu(section, 0, 0);
    data = status < 0 ? nullptr : ::elf_rawdata(section, nullptr);
    if (data == nullptr) return fail("decompress: {}", ::elf_errmsg(-1));
    if (data->d_size != size_bytes) return fail("decompress: {} bytes", data->d_size);
    const std::span<const std::byte> bytes = view_of(*data);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace

Result<SectionTable> SectionTable::read(const FileBytes& file, const Elf64_Ehdr& header) {
    SectionTable table;
    if (count_headers(file, header) == 0) return table;
    BOBBIN_TRY(const ElfHandle elf, begin_elf(file));
    BOBBIN_TRY(table.headers_, copy_headers(elf.get()));
    std::size_t names_index = 0;
    if (::elf_getshdrstrndx(elf.get(), &names_index) != 0 || names_index >= table.size()) {
        return SectionTable();
    }
    auto names = table.read_bytes(file, names_index, ElfFile::kMaxSectionBytes);
    if (!names) return SectionTable();
    table.names_ = std::move(*names);
    return table;
}

// Looks at no more bytes than the text asked for has: 65,536 headers may all point at one endless
// name, which makes elf_strptr quadratic.
bool SectionTable::starts_with(const Elf64_Shdr& header, std::string_view text) const {
    if (header.sh_name >= names_.size() || names_.size() - header.sh_name < text.size()) {
        return false;
    }
    return std::memcmp(names_.data() + header.sh_name, text.data(), text.size()) == 0;
}

std::optional<std::size_t> SectionTable::find(std::string_view name) const {
    const std::string with_end = std::string(name) + '\0';
    for (std::size_t i = 1; i < headers_.size(); ++i) {
        if (starts_with(headers_[i], with_end)) return i;
    }
    return std::nullopt;
}

Result<std::uint64_t> SectionTable::unpacked_size(const FileBytes& file, std::size_t index) const {
    const Elf64_Shdr& section = headers_[index];
    const bool is_gabi = (section.sh_flags & SHF_COMPRESSED) != 0;
    if (!is_gabi && !starts_with(section, ".zdebug_")) return section.sh_size;
    const std::uint64_t header_bytes = std::min<std::uint64_t>(section.sh_size, sizeof(Elf64_Chdr));
    BOBBIN_TRY(const auto header, file.read(section.sh_offset, header_bytes));
    return is_gabi ? read_gabi_size(header) : read_gnu_size(header);
}

Result<std::vector<std::byte>> SectionTable::read_bytes(const FileBytes& file, std::size_t index,
                                                        std::uint64_t max_bytes) const {
    const Elf64_Shdr& section = headers_[index];
    BOBBIN_CHECK(check_size(section.sh_size, max_bytes));
    if ((section.sh_flags & SHF_COMPRESSED) != 0) {
        return decompress(file, index, Compression::kGabi, max_bytes);
    }
    if (starts_with(section, ".zdebug_")) {
        return decompress(file, index, Compression::kGnu, max_bytes);
    }
    return file.read(section.sh_offset, section.sh_size);
}

}  // namespace bobbin::elf
