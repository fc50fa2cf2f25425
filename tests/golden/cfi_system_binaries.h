// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cfi/eh_frame.h"

namespace bobbin::test {

struct SystemBinary {
    std::string path;
    std::uint64_t eh_frame_bytes = 0;
};

// `count` programs and libraries of this machine with at most `max_eh_frame_bytes` of .eh_frame
// together: first the well-known ones that are installed, since each has something that the others
// lack, then the largest of which each takes at most an equal share of what is left.
std::vector<SystemBinary> find_system_binaries(std::size_t count, std::uint64_t max_eh_frame_bytes);

// Whatever our own readers say of a file's .eh_frame. Fails the test if they do not.
cfi::EhFrame read_rows(const std::string& path);
cfi::EhFrame read_debug_rows(const std::string& path);  // of .debug_frame

}  // namespace bobbin::test
