// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbolize/dwarf_symbolizer.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

struct ObjectNames {
    NamesOfEach names;  // one list an address, as Symbolizer::name gives them
    DwarfQuality quality;
};

// The functions at addresses of one file, by all that it and its debug files say. `fd` is the file,
// which lies at `path` for other files named beside it. `addresses` ascend and are file_vaddrs.
// Parses what anybody may have made up: the agent has it done by its worker (object_worker.h).
Result<ObjectNames> name_object(int fd, const std::string& path,
                                std::span<const std::uint64_t> addresses,
                                const DwarfOptions& options = {});

}  // namespace bobbin::symbolize
