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
// Of the processes that were started and run now, what they do not share with others. (getrusage's
// ru_maxrss of a child begins with what the starting process had.)
std::uint64_t children_bytes();

}  // namespace bobbin::service
