// SPDX-License-Identifier: Apache-2.0
#include "executable/build_executable.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cfi/eh_frame.h"
#include "elf/elf_file.h"

namespace bobbin::executable {
namespace {

Result<unwind_table::UnwindTable> table_of(const elf::ElfFile& elf,
                                           unwind_table::SpecialRules& specials) {
    BOBBIN_TRY(const auto section, elf.read_eh_frame());
    if (!section) return fail("no .eh_frame");
    BOBBIN_TRY(const auto frames, cfi::read_eh_frame(section->bytes, section->file_vaddr));
    if (frames.fde_count == 0 && !frames.stopped.empty()) return fail("{}", frames.stopped);
    return unwind_table::build_table(frames.unwind, elf.load_segments(), specials);
}

void fill_from(const elf::ElfFile& elf, BuiltExecutable& built,
               unwind_table::SpecialRules& specials) {
    built.executable.build_id = elf.build_id();
    built.executable.segments = elf.load_segments();
    auto table = table_of(elf, specials);
    if (!table) {
        built.executable.refused = table.error().message();
        return;
    }
    built.executable.row_count = table->row_count;
    built.executable.table_bytes = table->words.size() * sizeof(table->words[0]);
    built.table = std::move(*table);
}

}  // namespace

BuiltExecutable build_executable(OpenedFile file, unwind_table::SpecialRules& specials) {
    BuiltExecutable built;
    built.key = file.key;
    built.executable.id = file.executable_id;
    built.executable.path = std::move(file.path);
    built.executable.fd = std::move(file.fd);
    if (auto elf = elf::ElfFile::open(built.executable.fd.get())) {
        fill_from(*elf, built, specials);
    } else {
        built.executable.refused = elf.error().message();
    }
    return built;
}

BuiltExecutable build_vdso(std::span<const std::byte> image,
                           unwind_table::SpecialRules& specials) {
    OpenedFile file;
    file.executable_id = EXECUTABLE_ID_VDSO;
    file.path = "[vdso]";
    file.fd = UniqueFd(::memfd_create("vdso", MFD_CLOEXEC));
    const auto written = ::write(file.fd.get(), image.data(), image.size());
    // A memfd that could not be made or filled is no ELF file, and is refused as such.
    if (written != static_cast<ssize_t>(image.size())) file.fd.reset();
    return build_executable(std::move(file), specials);
}

}  // namespace bobbin::executable
