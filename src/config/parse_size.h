// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace bobbin::config {

// "64M", "1G", "512K" (powers of 1024, also "64MiB", "64MB" and in small letters) or bytes: a whole
// number and at most one unit. The error's message says what is wrong.
Result<std::uint64_t> parse_size(std::string_view text);

}  // namespace bobbin::config
