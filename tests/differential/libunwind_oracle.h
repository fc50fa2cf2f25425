// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "differential/oracle_frames.h"

namespace bobbin::test {

// libunwind's unw_step over a thread that is stopped under ptrace. Slow: it looks for the module
// anew for each frame; asked where libdw and the walker do not agree.
OracleStack walk_with_libunwind(pid_t thread);

}  // namespace bobbin::test
