// SPDX-License-Identifier: Apache-2.0
#include "elf/section_table.h"

#include <gelf.h>
#include <libelf.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>

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
    // elf_memory does not write to the image; its parameter is only not const.
    auto* image = const_cast<char*>(reinterpret_cast<const char*>(file.image().data()));
    ElfHandle elf(file.fd() >= 0 ? ::elf_begin(file.fd(), ELF_C_READ, nullptr)
                                 : ::elf_memory(image, file.image().size()));
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

Result<> check_compressed(const FileBytes& file, const Elf64_Shdr& section) {
    if (section.sh_size < sizeof(Elf64_Chdr)) return fail("compressed, without a header");
    BOBBIN_TRY(const auto headers, file.read_array<Elf64_Chdr>(section.sh_offset, 1));
    const Elf64_Chdr& header = headers.front();
    if (header.ch_type != ELFCOMPRESS_ZLIB) {
        return fail("compressed with method {}; only zlib ({}) is supported", header.ch_type,
                    ELFCOMPRESS_ZLIB);
    }
    if (header.ch_size > ElfFile::kMaxSectionBytes) {
        return fail("{} bytes decompressed; at most {} are read", header.ch_size,
                    ElfFile::kMaxSectionBytes);
    }
    return {};
}

Result<std::vector<std::byte>> decompress(const FileBytes& file, std::size_t index) {
    BOBBIN_TRY(const ElfHandle elf, begin_elf(file));
    ::Elf_Scn* section = ::elf_getscn(elf.get(), index);
    if (section == nullptr || ::elf_compress(section, 0, 0) < 0) {
        return fail("decompress: {}", ::elf_errmsg(-1));
    }
    const ::Elf_Data* data = ::elf_rawdata(section, nullptr);
    if (data == nullptr) return fail("decompress: {}", ::elf_errmsg(-1));
    const auto* bytes = static_cast<const std::byte*>(data->d_buf);
    return std::vector<std::byte>(bytes, bytes + data->d_size);
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
    auto names = table.read_bytes(file, names_index);
    if (!names) return SectionTable();
    table.names_ = std::move(*names);
    return table;
}

// Looks at no more bytes than the name asked for has: 65,536 headers may all point at one endless
// name, which makes elf_strptr quadratic.
bool SectionTable::has_name(const Elf64_Shdr& header, std::string_view name) const {
    if (header.sh_name >= names_.size() || names_.size() - header.sh_name <= name.size()) {
        return false;
    }
    const std::byte* start = names_.data() + header.sh_name;
    return std::memcmp(start, name.data(), name.size()) == 0 && start[name.size()] == std::byte{0};
}

std::optional<std::size_t> SectionTable::find(std::string_view name) const {
    for (std::size_t i = 1; i < headers_.size(); ++i) {
        if (headers_[i].sh_type != SHT_NOBITS && has_name(headers_[i], name)) return i;
    }
    return std::nullopt;
}

Result<std::vector<std::byte>> SectionTable::read_bytes(const FileBytes& file,
                                                        std::size_t index) const {
    const Elf64_Shdr& section = headers_[index];
    if (section.sh_size > ElfFile::kMaxSectionBytes) {
        return fail("{} bytes; at most {} are read", section.sh_size, ElfFile::kMaxSectionBytes);
    }
    if ((section.sh_flags & SHF_COMPRESSED) == 0)
        return file.read(section.sh_offset, section.sh_size);
    BOBBIN_CHECK(check_compressed(file, section));
    return decompress(file, index);
}

}  // namespace bobbin::elf
