// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "elf/elf_file.h"

namespace bobbin::symbolize {

// Opens a file that another file names: only a regular one. What else a path may lead to (a device,
// a FIFO) is not even opened, because opening alone may do something. Not open: it is not there.
UniqueFd open_regular_file(const std::string& path);

std::string directory_of(const std::string& path);

struct FoundFile {
    UniqueFd fd;            // not open: it is not there, or is not what may be opened
    std::string directory;  // that it lies in, once links are followed
};

// Opens a file that another file names. Who parses may have no right to open anything itself.
using FileOpener = std::function<FoundFile(const std::string& path)>;

// Opens it here: a regular file that begins as an executable, a library or an object file of ELF
// does. No other contents are handed to a parser that might give them away; nor is a core dump,
// which is memory of some process.
FoundFile open_object_file(const std::string& path);

struct DebugFileSources {
    std::vector<std::string> directories = {"/usr/lib/debug"};
    // Another one, asked last and by build id alone, because it costs most; empty: none.
    std::string downloads;
    FileOpener open = open_object_file;
};
// Where below one of these directories the debug file of a build id has its place.
std::string build_id_path(const std::string& directory, const elf::BuildId& build_id);

// The build id of any ELF file, an object file too, by its section; empty: it has none.
elf::BuildId read_build_id_section(int fd);

// Of .gnu_debuglink and .gnu_debugaltlink: a path and a few bytes.
inline constexpr std::uint64_t kMaxDebugLinkBytes = 8192;

// The separate file with the debugging information of `file`, which lies at `path`: by build id in
// DIRECTORY/.build-id; by .gnu_debuglink beside the file, in .debug there and below DIRECTORY; by
// build id in `downloads`. It is taken only if its build id is the file's or, where one has none,
// if the link's CRC is right. Not open: there is none.
FoundFile find_debug_file(const elf::ElfFile& file, const std::string& path,
                          const DebugFileSources& sources);

// The file that dwz moved common parts to, `link` is the .gnu_debugaltlink of a file that lies in
// `directory`: by the path there, or by build id. Its build id has to be the link's.
UniqueFd find_supplementary_file(const elf::SectionBytes& link, const std::string& directory,
                                 const DebugFileSources& sources);

}  // namespace bobbin::symbolize
