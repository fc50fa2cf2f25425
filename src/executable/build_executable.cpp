// SPDX-License-Identifier: Apache-2.0
#include "executable/build_executable.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cfi/eh_frame.h"
#include "elf/elf_file.h"

namespace bobbin::executable {
namespace {

Result<cfi::EhFrame> read_rows(const elf::ElfFile& elf) {
    BOBBIN_TRY(const auto section, elf.read_eh_frame());
    if (!section) return cfi::read_eh_frame({}, 0);
    return cfi::read_eh_frame(section->bytes, section->file_vaddr);
}

// Empty when every function's information could be read.
std::string describe_damage(const cfi::EhFrame& frames) {
    if (!frames.stopped.empty()) return frames.stopped;
    if (frames.fde_refused_count == 0) return "";
    return fmt::format("{} of {} functions have malformed unwind information",
                       frames.fde_refused_count, frames.fde_count + frames.fde_refused_count);
}

Result<unwind_table::UnwindTable> table_of(const elf::ElfFile& elf, std::string& damage,
                                           unwind_table::SpecialRules& specials) {
    BOBBIN_TRY(const auto frames, read_rows(elf));
    damage = describe_damage(frames);
    return unwind_table::build_table(frames.unwind, elf.load_segments(), specials);
}

void fill_from(const elf::ElfFile& elf, BuiltExecutable& built,
               unwind_table::SpecialRules& specials) {
    built.executable.build_id = elf.build_id();
    built.executable.segments = elf.load_segments();
    auto table = table_of(elf, built.executable.refused, specials);
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

BuiltExecutable build_vdso(std::span<const std::byte> image, unwind_table::SpecialRules& specials) {
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
