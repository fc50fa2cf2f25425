// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"

namespace bobbin::symbolize {

// Makes this process, which must have one thread, one that can compute, read the files it was
// handed and use the sockets it has, and do nothing else: nobody's user id, no capabilities, a
// filter of system calls (seccomp), `memory_bytes` of memory more than it has now. It dies when the
// thread that started it does. Other system calls fail with EPERM.
// Error: the filter or another part could not be had; the rest was given up all the same.
Result<> give_up_rights(std::uint64_t memory_bytes);

}  // namespace bobbin::symbolize
