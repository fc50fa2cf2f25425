// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "sampler/bpf_program.h"

namespace bobbin::sampler {

// These cgroups are sampled from now on and no others; of a program that was loaded with cgroups
// among its targets. A unit that starts again has another cgroup.
Result<> replace_target_cgroups(const BpfProgram& program, std::span<const std::uint64_t> ids);

}  // namespace bobbin::sampler
