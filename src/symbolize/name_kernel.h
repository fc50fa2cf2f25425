// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "symbolize/kernel_symbolizer.h"
#include "symbolize/profile_tables.h"

namespace bobbin::symbolize {

// Sets locations 0, 1, ... to kernel `addresses`, which ascend. One mapping for the core kernel,
// "[kernel]", and one for each module met. nullptr: without names.
void name_kernel_locations(std::span<const std::uint64_t> addresses, KernelSymbolizer* symbolizer,
                           ProfileTables& tables);

}  // namespace bobbin::symbolize
