// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "dwarf/debug_file.h"

namespace bobbin::dwarf {

// What may be held of compressed sections for one object, by all of its files: they can only be
// read from front to back.
struct MemoryLimit {
    std::uint64_t remaining_bytes = 256ULL << 20;
};

// The sections of an ELF file, read with pread when they are looked at; compressed ones (gABI's
// zlib and zstd, GNU's .zdebug_) are unpacked then, .debug_info and .debug_line on the way, the
// others as a whole, as far as `limit` allows. Beyond it they are empty. `fd` is borrowed and must
// stay open; executables, shared objects, .dwo and .dwp. A file without debugging information is no
// error: its sections are empty.
Result<std::shared_ptr<DebugFile>> open_debug_file(int fd, std::shared_ptr<MemoryLimit> limit);

}  // namespace bobbin::dwarf
