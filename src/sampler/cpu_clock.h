// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::sampler {

// An event that fires `frequency_hz` times in each second that `cpu` is not idle; off until it is
// enabled. Error code of perf_event_open in Error::code(): EACCES and EPERM mean privilege.
Result<UniqueFd> open_cpu_clock(int cpu, std::uint32_t frequency_hz);

}  // namespace bobbin::sampler
