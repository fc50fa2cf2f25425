// SPDX-License-Identifier: Apache-2.0
#include "symbolize/debug_files.h"

#include <iterator>
#include <utility>

#include "symbolize/mini_debug_info.h"

namespace bobbin::symbolize {
namespace {

struct OwnedDebugFile {
    UniqueFd fd;
    std::shared_ptr<dwarf::DebugFile> file;
};

// It has no symbol that .dynsym has. What cannot be read of it costs its own names only.
void add_mini_debug_symbols(const elf::ElfFile& file, std::vector<elf::Symbol>& symbols) {
    const auto section = file.read_section(".gnu_debugdata", kMaxMiniDebugBytes);
    if (!section || !*section) return;
    auto more = read_mini_debug_symbols((*section)->bytes);
    if (!more) return;
    symbols.insert(symbols.end(), std::make_move_iterator(more->begin()),
                   std::make_move_iterator(more->end()));
}

}  // namespace

Result<DebugFiles> DebugFiles::open(int fd, const elf::ElfFile& file, const std::string& path,
                                    DebugFileSources sources) {
    DebugFiles files;
    files.sources_ = std::move(sources);
    BOBBIN_TRY(files.main_, dwarf::open_debug_file(fd, files.limit_));
    if (files.has_debug_info()) {
        files.open_supplementary(file, directory_of(path));
    } else {
        files.open_separate(file, path);
    }
    if (files.has_debug_info()) {
        files.package_ = files.open_owned(files.sources_.open(path + ".dwp").fd);
    }
    return files;
}

void DebugFiles::open_separate(const elf::ElfFile& file, const std::string& path) {
    FoundFile found = find_debug_file(file, path, sources_);
    separate_fd_ = std::move(found.fd);
    if (!separate_fd_.is_open()) return;
    auto opened = dwarf::open_debug_file(separate_fd_.get(), limit_);
    const auto separate = elf::ElfFile::open(separate_fd_.get());
    if (!opened || !separate) return;
    main_ = std::move(*opened);
    open_supplementary(*separate, found.directory);
}

void DebugFiles::open_supplementary(const elf::ElfFile& file, const std::string& directory) {
    const auto link = file.read_section(".gnu_debugaltlink", kMaxDebugLinkBytes);
    if (!link || !*link) return;
    main_->supplementary = open_owned(find_supplementary_file(**link, directory, sources_));
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
    const std::string path =
        is_whole ? skeleton.dwo_name : skeleton.comp_dir + "/" + skeleton.dwo_name;
    return open_owned(sources_.open(path).fd);
}

Result<std::vector<elf::Symbol>> DebugFiles::read_function_symbols(const elf::ElfFile& file) const {
    if (separate_fd_.is_open()) {
        const auto separate = elf::ElfFile::open(separate_fd_.get());
        auto symbols = separate ? separate->read_function_symbols()
                                : Result<std::vector<elf::Symbol>>(std::vector<elf::Symbol>());
        if (symbols && !symbols->empty()) return symbols;
    }
    BOBBIN_TRY(std::vector<elf::Symbol> symbols, file.read_function_symbols());
    add_mini_debug_symbols(file, symbols);
    return symbols;
}

}  // namespace bobbin::symbolize
