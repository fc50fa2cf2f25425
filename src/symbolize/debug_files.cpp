// SPDX-License-Identifier: Apache-2.0
#include "symbolize/debug_files.h"

#include <filesystem>
#include <utility>

#include "symbolize/find_debug_file.h"

namespace bobbin::symbolize {
namespace {

constexpr std::uint64_t kMaxLinkBytes = 8192;

struct OwnedDebugFile {
    UniqueFd fd;
    std::shared_ptr<dwarf::DebugFile> file;
};

std::string directory_of_fd(int fd, const std::string& path) {
    std::error_code error;
    const auto place = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
    return (error ? std::filesystem::path(path) : place).parent_path().string();
}

}  // namespace

Result<DebugFiles> DebugFiles::open(int fd, const elf::ElfFile& file, const std::string& path,
                                    const std::vector<std::string>& debug_directories) {
    DebugFiles files;
    BOBBIN_TRY(files.main_, dwarf::open_debug_file(fd, files.limit_));
    if (files.has_debug_info()) {
        files.open_supplementary(file, directory_of_fd(fd, path), debug_directories);
    } else {
        files.open_separate(file, path, debug_directories);
    }
    if (files.has_debug_info()) {
        files.package_ = files.open_owned(open_regular_file(path + ".dwp"));
    }
    return files;
}

void DebugFiles::open_separate(const elf::ElfFile& file, const std::string& path,
                               const std::vector<std::string>& debug_directories) {
    separate_fd_ = find_debug_file(file, path, debug_directories);
    if (!separate_fd_.is_open()) return;
    auto opened = dwarf::open_debug_file(separate_fd_.get(), limit_);
    const auto separate = elf::ElfFile::open(separate_fd_.get());
    if (!opened || !separate) return;
    main_ = std::move(*opened);
    open_supplementary(*separate, directory_of_fd(separate_fd_.get(), path), debug_directories);
}

void DebugFiles::open_supplementary(const elf::ElfFile& file, const std::string& directory,
                                    const std::vector<std::string>& debug_directories) {
    const auto link = file.read_section(".gnu_debugaltlink", kMaxLinkBytes);
    if (!link || !*link) return;
    main_->supplementary =
        open_owned(find_supplementary_file(**link, directory, debug_directories));
    lacks_supplementary_file_ = main_->supplementary == nullptr;
}

std::shared_ptr<dwarf::DebugFile> DebugFiles::open_owned(UniqueFd fd) const {
    if (!fd.is_open()) return nullptr;
    auto owned = std::make_shared<OwnedDebugFile>();
    auto file = dwarf::open_debug_file(fd.get(), limit_);
    if (!file) return nullptr;
    owned->fd = std::move(fd);
    owned->file = std::move(*file);
    return {owned, owned->file.get()};
}

std::shared_ptr<dwarf::DebugFile> DebugFiles::open_split_file(const dwarf::Unit& skeleton) const {
    const bool is_whole = skeleton.dwo_name.starts_with('/') || skeleton.comp_dir.empty();
    return open_owned(open_regular_file(is_whole ? skeleton.dwo_name
                                                 : skeleton.comp_dir + "/" + skeleton.dwo_name));
}

Result<std::vector<elf::Symbol>> DebugFiles::read_function_symbols(const elf::ElfFile& file) const {
    if (separate_fd_.is_open()) {
        const auto separate = elf::ElfFile::open(separate_fd_.get());
        auto symbols = separate ? separate->read_function_symbols()
                                : Result<std::vector<elf::Symbol>>(std::vector<elf::Symbol>());
        if (symbols && !symbols->empty()) return symbols;
    }
    return file.read_function_symbols();
}

}  // namespace bobbin::symbolize
