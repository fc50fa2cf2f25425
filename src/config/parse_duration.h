// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace bobbin::config {

// "10" (seconds), "10s", "500ms", "1m30s", "2h", "7d": whole numbers, units d h m s ms from large
// to small, each at most once. More than zero, at most a year. The error's message says which rule
// was broken.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace bobbin::config
