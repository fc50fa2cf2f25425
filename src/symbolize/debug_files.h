// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "dwarf/open_debug_file.h"
#include "dwarf/unit.h"
#include "elf/elf_file.h"
#include "symbolize/find_debug_file.h"

namespace bobbin::symbolize {

// The files that the debugging information of one object lies in, opened: the object itself or its
// separate debug file, what dwz moved out of it, a package, and .dwo files as they are asked for.
class DebugFiles {
public:
    // `fd` and `file` are the same file; both are borrowed.
    static Result<DebugFiles> open(int fd, const elf::ElfFile& file, const std::string& path,
                                   DebugFileSources sources);

    [[nodiscard]] dwarf::DebugFile& main() const { return *main_; }
    [[nodiscard]] bool has_debug_info() const { return !main_->sections.info.is_empty(); }
    [[nodiscard]] bool lacks_supplementary_file() const { return lacks_supplementary_file_; }
    // nullptr: there is none.
    [[nodiscard]] std::shared_ptr<dwarf::DebugFile> package() const { return package_; }
    [[nodiscard]] std::shared_ptr<dwarf::DebugFile> open_split_file(
        const dwarf::Unit& skeleton) const;

    // Of the separate debug file, which has the full table, else of the object, its compressed
    // symbols (mini_debug_info.h) too.
    [[nodiscard]] Result<std::vector<elf::Symbol>> read_function_symbols(
        const elf::ElfFile& file) const;

private:
    void open_separate(const elf::ElfFile& file, const std::string& path);
    void open_supplementary(const elf::ElfFile& file, const std::string& directory);
    [[nodiscard]] std::shared_ptr<dwarf::DebugFile> open_owned(UniqueFd fd) const;

    DebugFileSources sources_;
    std::shared_ptr<dwarf::MemoryLimit> limit_ = std::make_shared<dwarf::MemoryLimit>();
    UniqueFd separate_fd_;
    std::shared_ptr<dwarf::DebugFile> main_;
    std::shared_ptr<dwarf::DebugFile> package_;
    bool lacks_supplementary_file_ = false;
};

}  // namespace bobbin::symbolize
