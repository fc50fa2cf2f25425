// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "aggregate/stack_counts.h"

namespace bobbin::symbolize {

// Ids of executables that at least one of `of_samples` samples has a frame in; ascending.
std::vector<std::uint32_t> find_often_sampled(const aggregate::CountedStacks& counted,
                                              std::uint64_t of_samples);

}  // namespace bobbin::symbolize
