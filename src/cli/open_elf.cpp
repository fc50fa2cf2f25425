// SPDX-License-Identifier: Apache-2.0
#include "cli/open_elf.h"

#include <fcntl.h>

#include <cerrno>

namespace bobbin::cli {

Result<OpenElf> open_elf(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd.is_open()) return fail_with(errno, "open {}", path);
    auto file = elf::ElfFile::open(fd.get());
    if (!file) return fail(std::move(file).error()).context("read {}", path);
    return OpenElf{std::move(fd), std::move(*file)};
}

}  // namespace bobbin::cli
