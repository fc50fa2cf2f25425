// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bobbin::executable {

// One file system that programs may come from, at one of the places where it is mounted.
struct Mount {
    std::uint32_t device = 0;  // as the kernel writes it, 12 bits major and 20 minor
    std::string path;
    std::string type;
};

// Those of a /proc/PID/mountinfo (proc(5)) whose programs can be held: each file system once, and
// at most `max_count`. Left out are the kernel's own, which hold no programs, and those with a
// server (FUSE, NFS), which may be asked only where somebody waits for the answer with a deadline.
std::vector<Mount> mounts_with_programs(std::string_view mountinfo, std::size_t max_count);

}  // namespace bobbin::executable
