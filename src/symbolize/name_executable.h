// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "bobbin/bpf_abi.h"
#include "executable/executable.h"
#include "symbolize/profile_tables.h"

namespace bobbin::symbolize {

// Places in one executable, which are the locations `first_location`, +1, ... of the profile.
struct ExecutablePlaces {
    std::uint32_t executable_id = 0;
    std::uint32_t first_location = 0;
    std::span<const abi::frame_word> frames;  // ascending
};

// Names them by the file's symbols and debugging information, read once through its held fd;
// nullptr: not in the catalog. What cannot be read stays without names: the fd is closed, the file
// is no ELF file any more, the offset lies in no segment. One mapping for each segment that was
// hit.
void name_executable_locations(const ExecutablePlaces& places,
                               const executable::Executable* executable, bool resolve_names,
                               ProfileTables& tables);

}  // namespace bobbin::symbolize
