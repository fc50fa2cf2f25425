// SPDX-License-Identifier: Apache-2.0
#include "service/segment_times.h"

namespace bobbin::service {

std::chrono::nanoseconds until_segment_ends(std::chrono::system_clock::time_point now,
                                            std::chrono::seconds length) {
    const std::chrono::nanoseconds whole = length;
    const std::chrono::nanoseconds left = whole - now.time_since_epoch() % whole;
    return left < whole / 10 ? left + whole : left;
}

}  // namespace bobbin::service
