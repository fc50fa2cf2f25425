// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "elf/elf_file.h"

namespace bobbin::symbolize {

// Opens a file that another file names: only a regular one. What else a path may lead to (a device,
// a FIFO) is not even opened, because opening alone may do something. Not open: it is not there.
UniqueFd open_regular_file(const std::string& path);

// The build id of any ELF file, an object file too, by its section; empty: it has none.
elf::BuildId read_build_id_section(int fd);

// The separate file with the debugging information of `file`, which lies at `path`: by build id in
// DIRECTORY/.build-id; by .gnu_debuglink beside the file, in .debug there and below DIRECTORY. It
// is taken only if its build id is the file's or, where one has none, if the link's CRC is right.
// Not open: there is none.
UniqueFd find_debug_file(const elf::ElfFile& file, const std::string& path,
                         std::span<const std::string> directories);

// The file that dwz moved common parts to, by .gnu_debugaltlink of `debug_file`, which lies in
// `directory`: by the path there, or by build id. Its build id has to be the link's.
UniqueFd find_supplementary_file(const elf::SectionBytes& link, const std::string& directory,
                                 std::span<const std::string> directories);

}  // namespace bobbin::symbolize
