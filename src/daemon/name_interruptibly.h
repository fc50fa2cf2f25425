// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aggregate/stack_counts.h"
#include "daemon/signals.h"
#include "executable/catalog.h"
#include "sampler/process_labels.h"
#include "symbolize/named_profile.h"

namespace bobbin::daemon {

struct Named {
    symbolize::NamedProfile profile;
    bool names_skipped =
        false;  // a thread is left that reads `counted` and `catalog`: end by _Exit
    bool aborted = false;
};

// Gives names while listening: the next Ctrl-C leaves names out, the one after that aborts.
Named name_interruptibly(const aggregate::CountedStacks& counted,
                         const executable::Catalog& catalog,
                         const sampler::ProcessLabelReader& labels, Signals& signals);

}  // namespace bobbin::daemon
