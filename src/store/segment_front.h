// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/segment_directory.h"
#include "store/store.h"

namespace bobbin::store {

// What the index has of a segment.
struct SegmentFront {
    Segment segment;
    std::string sums;  // encode_cpu_sums(); empty: its file has none
};

// From the beginning of a file. One whose head cannot be read has nothing but the time in its name:
// it grows old like the others.
SegmentFront segment_from(const SegmentDirectory::File& file, std::string_view front);
// The same, by reading as much of it as that takes: 4 KiB, seldom more. Error: it has left.
Result<SegmentFront> read_front(const SegmentDirectory& files, const SegmentDirectory::File& file);

// A segment without a length takes a nanosecond.
Time end_of(const Segment& segment);

}  // namespace bobbin::store
