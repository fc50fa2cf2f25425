// SPDX-License-Identifier: Apache-2.0
#include "executable/build_cost.h"

#include <fcntl.h>

#include <algorithm>

#include "elf/elf_file.h"
#include "executable/file_status.h"

namespace bobbin::executable {
namespace {

// At the worst moment there were 3.4 to 5.8 bytes for each of .eh_frame in what compilers had
// written (libLLVM 4.1, libc 5.5), 7.5 where each 3 of them were a row; 1.3 for each of .gopclntab.
constexpr std::uint64_t kBytesAByteOfCfi = 8;
constexpr std::uint64_t kBytesAByteOfGoTable = 2;
constexpr std::uint64_t kBytesOfAnyFile = 1 << 20;

bool make_readable(UniqueFd& fd) {
    const int flags = fd.is_open() ? ::fcntl(fd.get(), F_GETFL) : -1;
    if (flags < 0) return false;
    if ((flags & O_PATH) == 0) return true;
    const auto readable = open_contents(fd.get());
    if (readable) fd.reset(*readable);
    return readable.has_value();
}

std::uint64_t bytes_of_cfi(const elf::ElfFile& elf) {
    return elf.eh_frame_bytes() +
           std::max(elf.section_bytes(".debug_frame"), elf.section_bytes(".zdebug_frame"));
}

std::uint64_t bytes_of_go_tables(const elf::ElfFile& elf) {
    const std::uint64_t own =
        std::max(elf.section_bytes(".gopclntab"), elf.section_bytes(".data.rel.ro.gopclntab"));
    const bool is_go = elf.find_section(".go.buildinfo").has_value();
    return own == 0 && is_go ? elf.section_bytes(".data.rel.ro") : own;
}

}  // namespace

std::uint64_t estimate_build_bytes(OpenedFile& file) {
    if (!make_readable(file.fd)) return 0;
    const auto elf = elf::ElfFile::open(file.fd.get());
    if (!elf) return 0;
    return kBytesOfAnyFile + bytes_of_cfi(*elf) * kBytesAByteOfCfi +
           bytes_of_go_tables(*elf) * kBytesAByteOfGoTable;
}

}  // namespace bobbin::executable
