// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace bobbin::service {

// Of this process with all its threads, and of the ones it started and waited for: those that read
// names.
std::chrono::nanoseconds own_cpu_time();
std::chrono::nanoseconds child_cpu_time();

std::uint64_t resident_bytes();
// The largest child so far.
std::uint64_t peak_child_bytes();

}  // namespace bobbin::service
