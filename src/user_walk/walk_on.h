// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "user_walk/paused_walk.h"
#include "user_walk/table_source.h"

namespace bobbin::user_walk {

// What the kernel side was last told of a file.
using StateOfFile = std::function<abi::file_state(std::uint32_t executable_id)>;

struct ContinuedWalk {
    std::vector<abi::frame_word> frames;  // the one that was noted last comes once more
    abi::walk_end end = abi::WALK_END_FILE_NOT_READY;
};

// Takes the steps that the kernel side could not, by the same C and the same tables, without the
// process. With WALK_END_FILE_NOT_READY at the end `walk` stands at the next file to wait for, and
// can be gone on with from there; no frames at all: a bucket could not be had, and `walk` is as it
// was. Memory that was not copied reads as unmapped. Nobody may take a table away during the call.
ContinuedWalk walk_on(TableSource& source, PausedWalk& walk, std::uint32_t most_frames,
                      const StateOfFile& state_of);

}  // namespace bobbin::user_walk
