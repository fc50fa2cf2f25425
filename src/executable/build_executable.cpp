// SPDX-License-Identifier: Apache-2.0
#include "executable/build_executable.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "executable/file_status.h"
#include "executable/hash_unwind_rows.h"
#include "executable/held_file.h"
#include "executable/read_unwind_rows.h"

namespace bobbin::executable {
namespace {

Result<unwind_table::UnwindTable> table_of(const elf::ElfFile& elf, std::string& damage,
                                           std::optional<UnwindHash>& hash,
                                           unwind_table::SharedRules& shared) {
    BOBBIN_TRY(auto rows, read_unwind_rows(elf));
    damage = std::move(rows.damage);
    if (damage.empty()) hash = hash_unwind_rows(rows.unwind, elf.load_segments());
    return unwind_table::build_table(rows.unwind, elf.load_segments(), shared);
}

void fill_from(const elf::ElfFile& elf, BuiltExecutable& built, unwind_table::SharedRules& shared) {
    built.executable.build_id = elf.build_id();
    built.executable.segments = elf.load_segments();
    std::optional<UnwindHash> hash;
    auto table = table_of(elf, built.executable.refused, hash, shared);
    if (!table) {
        built.executable.refused = table.error().message();
        return;
    }
    built.executable.row_count = table->row_count;
    built.executable.table_bytes = table->words.size() * sizeof(table->words[0]);
    built.table = std::move(*table);
    if (hash) {
        built.content = ContentKey{.build_id = built.executable.build_id,
                                   .size_bytes = built.executable.file->status().size_bytes,
                                   .unwind_hash = *hash};
    }
}

// Of a file that was only found so far, its contents.
Result<UniqueFd> opened_for_reading(UniqueFd fd) {
    if (!fd.is_open()) return fail("not open");
    const int flags = ::fcntl(fd.get(), F_GETFL);
    if (flags >= 0 && (flags & O_PATH) == 0) return fd;
    BOBBIN_TRY(const int readable, open_contents(fd.get()));
    return UniqueFd(readable);
}

std::string path_of(const OpenedFile& file) {
    const auto status = status_of(file.fd.get());
    return status ? name_of(file.fd.get(), *status) : std::string();
}

void read_into(BuiltExecutable& built, UniqueFd fd, unwind_table::SharedRules& shared) {
    const int borrowed = fd.get();
    built.executable.file = std::make_shared<HeldFile>(std::move(fd), built.executable.path);
    if (auto elf = elf::ElfFile::open(borrowed)) {
        fill_from(*elf, built, shared);
    } else {
        built.executable.refused = elf.error().message();
    }
}

}  // namespace

BuiltExecutable build_executable(OpenedFile file, unwind_table::SharedRules& shared) {
    BuiltExecutable built;
    built.key = file.key;
    built.executable.id = file.executable_id;
    built.executable.path = file.path.empty() ? path_of(file) : std::move(file.path);
    if (auto fd = opened_for_reading(std::move(file.fd))) {
        read_into(built, std::move(*fd), shared);
    } else {
        built.executable.refused = fd.error().message();
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
