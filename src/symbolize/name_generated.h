// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "symbolize/code_maps.h"
#include "symbolize/distinct_frames.h"
#include "symbolize/profile_tables.h"

namespace bobbin::symbolize {

// Names places in generated code, which are the locations `first_location`, +1, ... of the profile,
// by what their processes wrote for profilers: a jitdump, and for what that leaves unnamed a perf
// map. Named ones lie in a mapping "[jit]" for each process, all others in "[anon]".
//
// The files are read as they are now. Their file systems may be those of a container's user and
// never answer, so all of them together get 20 seconds; what is not read by then has no name.
void name_generated_locations(std::span<const GeneratedPlace> places, std::uint32_t first_location,
                              const CodeMapsOf& code_maps_of, ProfileTables& tables);

}  // namespace bobbin::symbolize
