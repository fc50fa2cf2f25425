// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "cfi/unwind_row.h"
#include "elf/elf_file.h"
#include "elf/file_bytes.h"
#include "luajit/read_layout.h"
#include "luajit/vm_layout.h"

namespace bobbin::luajit {

// Where a VM can lie, by what the file says about unwinding: a single row of 8 KiB or more with the
// registers the VM saves, or as much code without any (LUAJIT_NO_UNWIND). Ascending. Of the
// executables of a system, nearly none has such a place, and then nothing of its code is read.
std::vector<VaddrRange> likely_places(const cfi::UnwindRows& rows);

struct SearchLimits {
    std::uint64_t code_bytes = 1ULL << 30;  // libxul has 120 MiB
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// The LuaJIT 2.1 VM of an executable or library, symbols or not: found by its machine code in the
// executable segments, where one of likely_places() lies. nullopt: it has none. Error: it has one
// that is of an unknown build, or several; or the file could not be read; or a limit was reached.
// Any thread; reads with pread only.
Result<std::optional<VmLayout>> find_vm(const elf::FileBytes& file,
                                        std::span<const elf::LoadSegment> segments,
                                        const cfi::UnwindRows& rows, SearchLimits limits = {});

}  // namespace bobbin::luajit
