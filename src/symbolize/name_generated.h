// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "symbolize/code_maps.h"
#include "symbolize/demangle.h"
#include "symbolize/distinct_frames.h"
#include "symbolize/profile_tables.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

enum class CodeMapKind : std::uint8_t { kJitdump, kPerfMap };

// One frame for each address of one process, which ascend; without a name: the file does not name
// it. Fewer frames: the rest has no names.
using ReadCodeMap = std::function<std::vector<NamedFrame>(
    int fd, CodeMapKind kind, std::span<const std::uint64_t> addresses)>;
// Here and now: a file system that does not answer holds this process, a hostile file is parsed by
// it. The agent has it done by its worker (executable_namer.h).
std::vector<NamedFrame> read_code_map(int fd, CodeMapKind kind,
                                      std::span<const std::uint64_t> addresses);

// Where names of generated code come from.
struct GeneratedNameSources {
    CodeMapsOf code_maps_of;
    ReadCodeMap read;
    DemangleNames demangle;
};

// Names places in generated code, which are the locations `first_location`, +1, ... of the profile,
// by what their processes wrote for profilers: a jitdump, and for what that leaves unnamed a perf
// map. Named ones lie in a mapping "[jit]" for each process, all others in "[anon]".
void name_generated_locations(std::span<const GeneratedPlace> places, std::uint32_t first_location,
                              const GeneratedNameSources& sources, ProfileTables& tables);

}  // namespace bobbin::symbolize
