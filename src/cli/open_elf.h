// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "elf/elf_file.h"

namespace bobbin::cli {

struct OpenElf {
    UniqueFd fd;  // `file` borrows it
    elf::ElfFile file;
};

// A file named on the command line; anything but a regular ELF file is an error. Never waits for
// the other end of a FIFO.
Result<OpenElf> open_elf(const std::string& path);

}  // namespace bobbin::cli
