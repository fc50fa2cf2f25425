// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "elf/elf_file.h"
#include "executable/held_file.h"

namespace bobbin::executable {

// A file that some process executes, as names and reports need it. `id` is the kernel side's.
struct Executable {
    std::uint32_t id = 0;
    std::string path;                // as the process sees it, for people; never opened again
    std::shared_ptr<HeldFile> file;  // what names are read from; none: it never could be read
    elf::BuildId build_id;
    std::vector<elf::LoadSegment> segments;
    std::string refused;  // why it has no unwind table; empty when it has one
    std::uint64_t row_count = 0;
    std::uint64_t table_bytes = 0;
};

}  // namespace bobbin::executable
