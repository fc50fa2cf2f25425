// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cfi/unwind_row.h"
#include "elf/elf_file.h"

namespace bobbin::executable {

// Of .init or .fini: the C library's start files have 30 bytes there, other objects may add calls.
inline constexpr std::uint64_t kMaxStartCodeBytes = 4096;

// The offset of the first byte behind `sub $8,%rsp`, when `code` is `_init` or `_fini` as the C
// library's start files begin and end them, and has nothing in between that moves rsp.
std::optional<std::size_t> start_code_frame(std::span<const std::byte> code);

// The rows of both, of which glibc states no CFI (sysdeps/x86_64/crti.S, crtn.S): each library
// that is loaded runs them once, and their first page faults there. Empty: it is other code.
cfi::UnwindRows read_start_code_rows(const std::optional<elf::SectionBytes>& init,
                                     const std::optional<elf::SectionBytes>& fini);

}  // namespace bobbin::executable
