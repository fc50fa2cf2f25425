// SPDX-License-Identifier: Apache-2.0
#include "aggregate/sample_times.h"

#include <algorithm>
#include <cassert>

namespace bobbin::aggregate {

void add_time(TimeCounts& times, std::uint32_t bucket) {
    auto place = times.end();
    while (place != times.begin() && std::prev(place)->bucket >= bucket) --place;
    if (place != times.end() && place->bucket == bucket) {
        ++place->count;
    } else {
        times.insert(place, {bucket, 1});
    }
}

void halve_buckets(TimeCounts& times) {
    std::size_t kept = 0;
    for (const TimeCount& time : times) {
        const std::uint32_t bucket = time.bucket / 2;
        if (kept != 0 && times[kept - 1].bucket == bucket) {
            times[kept - 1].count += time.count;
        } else {
            times[kept++] = {bucket, time.count};
        }
    }
    times.resize(kept);
}

bool TimeSpans::fits(std::chrono::nanoseconds time) const {
    return time < start_ + kMaxBuckets * length_;
}

std::uint32_t TimeSpans::bucket_of(std::chrono::nanoseconds time) const {
    assert(fits(time));
    return time <= start_ ? 0 : static_cast<std::uint32_t>((time - start_) / length_);
}

}  // namespace bobbin::aggregate
