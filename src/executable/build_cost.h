// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "executable/open_file.h"

namespace bobbin::executable {

// What reading and packing a file takes of memory at its worst moment, told by its section headers:
// an upper bound for what compilers write. A file that is no ELF file takes nothing. Opens for
// reading what was only found so far, and may therefore stand still where its file system has a
// server that does not answer.
std::uint64_t estimate_build_bytes(OpenedFile& file);

}  // namespace bobbin::executable
