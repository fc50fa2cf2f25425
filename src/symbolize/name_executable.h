// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bobbin/bpf_abi.h"
#include "executable/executable.h"
#include "symbolize/name_object.h"
#include "symbolize/profile_tables.h"

namespace bobbin::symbolize {

// Places in one executable, which are the locations `first_location`, +1, ... of the profile.
struct ExecutablePlaces {
    std::uint32_t executable_id = 0;
    std::uint32_t first_location = 0;
    std::span<const abi::frame_word> frames;  // ascending
};

// The functions at file_vaddrs of an executable that has a file; they ascend. One list an address,
// or fewer: the rest has no names.
using NameExecutable = std::function<NamesOfEach(const executable::Executable& executable,
                                                 std::span<const std::uint64_t> addresses)>;

// By the file's symbols and debugging information, read once through its held fd. What cannot be
// read stays without names: the fd is closed, the file is no ELF file any more.
NamesOfEach name_in_this_process(const executable::Executable& executable,
                                 std::span<const std::uint64_t> addresses);

// Names places; nullptr: not in the catalog. Without `name` (an empty function) they get none; nor
// do they where the offset lies in no segment. One mapping for each segment that was hit.
void name_executable_locations(const ExecutablePlaces& places,
                               const executable::Executable* executable, const NameExecutable& name,
                               ProfileTables& tables);

}  // namespace bobbin::symbolize
