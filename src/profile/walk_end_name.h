// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "bobbin/bpf_abi.h"

namespace bobbin::profile {

// The key of the label that says why a stack is not whole. Whole stacks go without it.
inline constexpr std::string_view kWalkEndLabel = "stack_end";
// The key of the label that says when samples came: milliseconds since the start, the first of the
// span that they came in.
inline constexpr std::string_view kTimeLabel = "time_offset";

// "file_not_ready"; what files and metrics call it.
std::string_view name_of(abi::walk_end end);
std::optional<abi::walk_end> walk_end_named(std::string_view name);

}  // namespace bobbin::profile
