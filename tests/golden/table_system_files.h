// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "cfi/eh_frame.h"
#include "elf/elf_file.h"

// The programs and libraries that this machine happens to have, as input for tests and benches.
namespace bobbin::test {

inline UniqueFd open_for_reading(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

// A 64-bit x86-64 program or library; not an object file, whose .eh_frame has no addresses yet.
inline bool is_program_or_library(int fd) {
    Elf64_Ehdr header{};
    return ::pread(fd, &header, sizeof header, 0) == ssize_t{sizeof header} &&
           std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64 &&
           (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

// Each file once, whatever the number of its names.
inline std::vector<std::string> find_system_files() {
    namespace fs = std::filesystem;
    std::vector<std::string> paths;
    std::set<std::pair<dev_t, ino_t>> seen;
    std::error_code error;
    fs::recursive_directory_iterator entry("/usr", fs::directory_options::skip_permission_denied,
                                           error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        struct stat status{};
        if (::lstat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
            continue;
        }
        const UniqueFd fd = open_for_reading(entry->path());
        if (fd.is_open() && is_program_or_library(fd.get()) &&
            seen.emplace(status.st_dev, status.st_ino).second) {
            paths.push_back(entry->path());
        }
    }
    return paths;
}

struct SystemFile {
    std::vector<elf::LoadSegment> segments;
    cfi::UnwindRows rows;
    std::uint64_t eh_frame_bytes = 0;
};

// nullopt: no .eh_frame, none that gives a row, or more than 64 MiB of it.
inline std::optional<SystemFile> read_system_file(const std::string& path) {
    constexpr std::size_t kMaxEhFrameBytes = std::size_t{64} << 20;
    const UniqueFd fd = open_for_reading(path);
    const Result<elf::ElfFile> file = elf::ElfFile::open(fd.get());
    if (!file) {
        return std::nullopt;
    }
    const Result<std::optional<elf::SectionBytes>> section = file->read_eh_frame();
    if (!section || !*section || (*section)->bytes.size() > kMaxEhFrameBytes) {
        return std::nullopt;
    }
    Result<cfi::EhFrame> eh_frame = cfi::read_eh_frame((*section)->bytes, (*section)->file_vaddr);
    if (!eh_frame) {
        return std::nullopt;
    }
    return SystemFile{file->load_segments(), std::move(eh_frame->unwind), (*section)->bytes.size()};
}

}  // namespace bobbin::test
