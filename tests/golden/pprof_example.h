// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbolize/named_profile.h"

namespace bobbin::test {

// Ten samples of 10 ms, by hand. Stacks, leaf first, inlined functions in parentheses:
//   3  vfs_read [kernel] <- (parse(int)) <- run <- main      pid 10 tid 11 cpu 0, all texts
//   5                       (parse(int)) <- run <- main      pid 10 tid 10 cpu 2, comm only
//   2                       libx.so+0x2345 <- main           pid 20 tid 20 cpu 0, comm only
symbolize::NamedProfile example_profile();

}  // namespace bobbin::test
