// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::sampler {

// The counters of all CPUs, summed. While programs run, a tick may be counted in `ticks` and not
// yet in its outcome; after PerfEvents::stop() they agree.
Result<abi::outcome_counters> read_outcome_counts(int map_fd);

}  // namespace bobbin::sampler
