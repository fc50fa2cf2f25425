// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "cfi/unwind_row.h"
#include "elf/elf_file.h"

namespace bobbin::executable {

using UnwindHash = std::array<std::uint64_t, 2>;

// Of all that a table is made from: equal where two files would get tables that say the same.
UnwindHash hash_unwind_rows(const cfi::UnwindRows& unwind,
                            std::span<const elf::LoadSegment> segments);

}  // namespace bobbin::executable
