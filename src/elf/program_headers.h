// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <optional>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"
#include "elf/file_bytes.h"

namespace bobbin::elf {

// The file header, checked: ELF, 64-bit, little-endian, x86-64, an executable or shared object.
Result<Elf64_Ehdr> read_file_header(const FileBytes& file);

struct ProgramHeaders {
    std::vector<LoadSegment> load_segments;
    std::optional<Elf64_Phdr> eh_frame_header;  // PT_GNU_EH_FRAME, if it has bytes
    std::vector<Elf64_Phdr> notes;              // PT_NOTE
};
Result<ProgramHeaders> read_program_headers(const FileBytes& file, const Elf64_Ehdr& header);

// NT_GNU_BUILD_ID of the first note segment that has one, else empty.
BuildId read_build_id(const FileBytes& file, const std::vector<Elf64_Phdr>& notes);

// Where `.eh_frame` lies, by the header that PT_GNU_EH_FRAME shows (LSB 5.0 section 10.6.2).
Result<std::uint64_t> read_eh_frame_vaddr(const FileBytes& file, const Elf64_Phdr& header);

}  // namespace bobbin::elf
