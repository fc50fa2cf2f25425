// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "service/control.h"

namespace bobbin::service {

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// For Prometheus, in its text format. Every tick is in exactly one of bobbin_samples_total and
// bobbin_lost_samples_total, every stack in one of bobbin_stacks_total, and one that is not
// complete also in bobbin_unwind_errors_total.
std::string metrics_text(const Status& status);

// Ticks that would have been samples. The other outcomes are of what was not to be sampled.
bool is_lost(abi::tick_outcome outcome);
// "ring_full"; what files and metrics call it.
std::string_view name_of(abi::tick_outcome outcome);

}  // namespace bobbin::service
