// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aggregate/stack_counts.h"
#include "daemon/sampling.h"
#include "daemon/signals.h"

namespace bobbin::daemon {

struct Named {
    NamedStacks stacks;
    bool names_skipped =
        false;  // a thread is left that reads `counted` and `sampling`: end by _Exit
    bool aborted = false;
};

// Gives names while listening: the next Ctrl-C leaves names out, the one after that aborts.
Named name_interruptibly(const aggregate::CountedStacks& counted, const Sampling& sampling,
                         Signals& signals);

}  // namespace bobbin::daemon
