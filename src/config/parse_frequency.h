// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace bobbin::config {

// "99" -> 99; "max" -> what the kernel allows (kernel.perf_event_max_sample_rate), at most
// RecordConfig::kMaxFrequencyHz. A number is checked against RecordConfig's limits only, not
// against the kernel's: that answer needs another text. `kernel_limit_hz` unknown: no such limit.
Result<std::uint32_t> parse_frequency(std::string_view text,
                                      std::optional<std::uint32_t> kernel_limit_hz);

}  // namespace bobbin::config
