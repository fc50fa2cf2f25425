// SPDX-License-Identifier: Apache-2.0
#include "executable/build_executable.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "executable/file_status.h"
#include "executable/held_file.h"
#include "executable/read_unwind_rows.h"

namespace bobbin::executable {
namespace {

// Where tables are made, and which there are.
struct Workplace {
    unwind_table::SharedRules& shared;
    const KnownTables* known;
};

Result<unwind_table::UnwindTable> table_of(UnwindSections sections,
                                           const std::vector<elf::LoadSegment>& segments,
                                           std::string& damage, unwind_table::SharedRules& shared) {
    BOBBIN_TRY(auto rows, read_unwind_rows(std::move(sections)));
    damage = std::move(rows.damage);
    return unwind_table::build_table(rows.unwind, segments, shared);
}

std::optional<ContentKey> content_of(const Executable& executable, const UnwindSections& sections) {
    const auto hash = hash_unwind_sections(sections, executable.segments);
    if (!hash) return std::nullopt;
    return ContentKey{.build_id = executable.build_id,
                      .size_bytes = executable.file->status().size_bytes,
                      .unwind_hash = *hash};
}

bool is_known(BuiltExecutable& built, const KnownTables* known) {
    const auto table =
        known != nullptr && built.content ? known->find(*built.content) : std::nullopt;
    if (!table) return false;
    built.executable.row_count = table->row_count;
    built.executable.table_bytes = table->bytes;
    return true;
}

void fill_from(const elf::ElfFile& elf, BuiltExecutable& built, const Workplace& workplace) {
    Executable& executable = built.executable;
    executable.build_id = elf.build_id();
    executable.segments = elf.load_segments();
    UnwindSections sections = read_unwind_sections(elf);
    built.content = content_of(executable, sections);
    if (is_known(built, workplace.known)) return;
    auto table =
        table_of(std::move(sections), executable.segments, executable.refused, workplace.shared);
    if (!table) executable.refused = table.error().message();
    if (!executable.refused.empty()) built.content.reset();
    if (!table) return;
    executable.row_count = table->row_count;
    executable.table_bytes = table->words.size() * sizeof(table->words[0]);
    built.table = std::move(*table);
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

void read_into(BuiltExecutable& built, UniqueFd fd, const Workplace& workplace) {
    const int borrowed = fd.get();
    built.executable.file = std::make_shared<HeldFile>(std::move(fd), built.executable.path);
    if (auto elf = elf::ElfFile::open(borrowed)) {
        fill_from(*elf, built, workplace);
    } else {
        built.executable.refused = elf.error().message();
    }
}

}  // namespace

BuiltExecutable build_executable(OpenedFile file, unwind_table::SharedRules& shared,
                                 const KnownTables* known) {
    BuiltExecutable built;
    built.key = file.key;
    built.announced = file.announced;
    built.executable.id = file.executable_id;
    built.executable.path = file.path.empty() ? path_of(file) : std::move(file.path);
    if (auto fd = opened_for_reading(std::move(file.fd))) {
        read_into(built, std::move(*fd), {.shared = shared, .known = known});
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
