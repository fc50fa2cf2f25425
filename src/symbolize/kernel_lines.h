// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "symbolize/name_object.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

// Where the running kernel says what it is, and who reads its debugging information.
struct KernelDebugInfo {
    std::string sysfs = "/sys";
    std::string root;     // what the places below begin with
    std::string release;  // empty: as uname says
    // As name_object(), or none at all. Without it there are no lines: a vmlinux may be anybody's.
    std::function<NamesOfEach(int fd, const std::string& path,
                              std::span<const std::uint64_t> addresses)>
        name_object;
};

struct KernelImage {
    UniqueFd fd;  // not open: there is none
    std::string path;
    std::uint64_t start_file_vaddr = 0;  // of its `_text`
};

// The vmlinux of the running kernel, by build id: in /usr/lib/debug (.build-id, boot, lib/modules),
// in /boot or /lib/modules, wherever distributions and kernel builds put it. The files of modules
// are object files, of which debugging information does not say where it stands; they are not read.
KernelImage find_kernel_image(const KernelDebugInfo& info);

// Gives names of the core kernel, by kallsyms, their files, lines and what was inlined, as far as
// there is a vmlinux. `addresses` are those of `names` and ascend; `image_start` is where `_text`
// stands in memory: a kernel moves itself by a random distance when it boots (KASLR). The function
// keeps the name that kallsyms gives it.
void add_kernel_lines(std::span<const std::uint64_t> addresses, std::uint64_t image_start,
                      const KernelDebugInfo& info, NamesOfEach& names);

}  // namespace bobbin::symbolize
