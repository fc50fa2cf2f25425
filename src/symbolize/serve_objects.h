// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bobbin::symbolize {

// How a worker ends, besides by signals.
inline constexpr int kWorkerFinished = 0;
inline constexpr int kWorkerOutOfMemory = 3;

// The worker: gives up its rights, then names objects that the agent sends through `socket_fd`
// until that is closed. What it needs to open, the agent opens for it. Gives the exit status, for
// _exit: what was registered to run at the end may need rights.
int serve_objects(int socket_fd, std::uint64_t memory_bytes);

}  // namespace bobbin::symbolize
