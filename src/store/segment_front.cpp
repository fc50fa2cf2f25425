// SPDX-License-Identifier: Apache-2.0
#include "store/segment_front.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "store/segment_file.h"

namespace bobbin::store {

SegmentFront segment_from(const SegmentDirectory::File& file, std::string_view front) {
    Segment segment{.file = file.name,
                    .begin = time_of_segment(file.name).value_or(Time{}),
                    .size_bytes = file.size_bytes};
    const auto facts = decode_segment_head(front);
    if (!facts) return {.segment = std::move(segment), .sums = {}};
    segment.begin = facts->begin;
    segment.duration = facts->duration;
    segment.sample_count = facts->sample_count;
    segment.cpu_ns = facts->cpu_ns;
    return {.segment = std::move(segment), .sums = std::string(packed_sums_of(front))};
}

Result<SegmentFront> read_front(const SegmentDirectory& files, const SegmentDirectory::File& file) {
    constexpr std::size_t kMostlyEnough = 4096;
    BOBBIN_TRY(std::string front, files.read(file.name, kMostlyEnough));
    if (const std::size_t size = front_bytes_of(front); size > front.size()) {
        BOBBIN_TRY(front, files.read(file.name, size));
    }
    return segment_from(file, front);
}

Time end_of(const Segment& segment) {
    const auto length = std::max(segment.duration, std::chrono::nanoseconds{1});
    return segment.begin + std::chrono::duration_cast<Time::duration>(length);
}

}  // namespace bobbin::store
