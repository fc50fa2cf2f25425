// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace bobbin::service {

// How long a segment that begins at `now` takes, so that it ends where the wall clock shows a
// multiple of `length`. A segment is never shorter than a tenth: clocks are set, and timers end a
// little early.
std::chrono::nanoseconds until_segment_ends(std::chrono::system_clock::time_point now,
                                            std::chrono::seconds length);

}  // namespace bobbin::service
