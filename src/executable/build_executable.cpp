// SPDX-License-Identifier: Apache-2.0
#include "executable/build_executable.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "executable/read_unwind_rows.h"

namespace bobbin::executable {
namespace {

Result<unwind_table::UnwindTable> table_of(const elf::ElfFile& elf, std::string& damage,
                                           unwind_table::SharedRules& shared) {
    BOBBIN_TRY(auto rows, read_unwind_rows(elf));
    damage = std::move(rows.damage);
    return unwind_table::build_table(rows.unwind, elf.load_segments(), shared);
}

void fill_from(const elf::ElfFile& elf, BuiltExecutable& built, unwind_table::SharedRules& shared) {
    built.executable.build_id = elf.build_id();
    built.executable.segments = elf.load_segments();
    auto table = table_of(elf, built.executable.refused, shared);
    if (!table) {
        built.executable.refused = table.error().message();
        return;
    }
    built.executable.row_count = table->row_count;
    built.executable.table_bytes = table->words.size() * sizeof(table->words[0]);
    built.table = std::move(*table);
}

}  // namespace

BuiltExecutable build_executable(OpenedFile file, unwind_table::SharedRules& shared) {
    BuiltExecutable built;
    built.key = file.key;
    built.executable.id = file.executable_id;
    built.executable.path = std::move(file.path);
    built.executable.fd = std::move(file.fd);
    if (auto elf = elf::ElfFile::open(built.executable.fd.get())) {
        fill_from(*elf, built, shared);
    } else {
        built.executable.refused = elf.error().message();
    }
    return built;
}

BuiltExecutable build_vdso(std::span<const std::byte> image, unwind_table::SharedRules& shared) {
    OpenedFile file;
    file.executable_id = EXECUTABLE_ID_VDSO;
    file.path = "[vdso]";
    file.fd = UniqueFd(::memfd_create("vdso", MFD_CLOEXEC));
    const auto written = ::write(file.fd.get(), image.data(), image.size());
    // A memfd that could not be made or filled is no ELF file, and is refused as such.
    if (written != static_cast<ssize_t>(image.size())) file.fd.reset();
    return build_executable(std::move(file), shared);
}

}  // namespace bobbin::executable
