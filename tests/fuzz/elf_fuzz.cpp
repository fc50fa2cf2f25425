// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "base/unique_fd.h"
#include "cfi/eh_frame.h"
#include "elf/elf_file.h"
#include "fuzz/check_rows.h"

namespace {

void read_everything(const bobbin::elf::ElfFile& file) {
    for (const char* name : {".text", ".symtab", ".debug_info", ".debug_str", ".zdebug_str"}) {
        (void)file.find_section(name);
        (void)file.read_section(name);
    }
    (void)file.read_debug_frame();
    (void)file.read_function_symbols();
    (void)bobbin::elf::file_offset_of(file.load_segments(), 0x1000);
    (void)bobbin::elf::file_vaddr_of(file.load_segments(), 0x1000);
    const auto section = file.read_eh_frame();
    if (!section || !*section) return;
    const auto frame = bobbin::cfi::read_eh_frame((*section)->bytes, (*section)->file_vaddr);
    if (frame) bobbin::fuzz::check_rows(frame->unwind);
}

}  // namespace

// The input is an ELF file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bobbin::UniqueFd fd(::memfd_create("input", MFD_CLOEXEC));
    bobbin::fuzz::require(::ftruncate(fd.get(), 0) == 0);
    bobbin::fuzz::require(::pwrite(fd.get(), data, size, 0) == static_cast<ssize_t>(size));
    const auto file = bobbin::elf::ElfFile::open(fd.get());
    if (file) read_everything(*file);
    return 0;
}
