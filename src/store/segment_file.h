// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::store {

// What a segment is about, in the first bytes of its file, so that an index can be made without
// unpacking a week of profiles (10,080 files: 0.4 s instead of a minute).
struct SegmentFacts {
    std::chrono::system_clock::time_point begin;
    std::chrono::nanoseconds duration{};
    std::uint64_t sample_count = 0;
    std::uint64_t cpu_ns = 0;
    // Of the profile; pprof has no place for it, and offsets of few samples do not tell it.
    std::chrono::nanoseconds time_bucket{};
};

SegmentFacts facts_of(const symbolize::NamedProfile& profile);

// A file: two skippable frames of zstd (RFC 8878 section 3.1.2), which every unpacker passes over,
// with the facts and with the sums of CPU time, then the profile in pprof's format, packed. So
// `zstd -dc FILE` is a pprof file.
inline constexpr std::size_t kSegmentHeadBytes = 64;

Result<std::string> encode_segment(const symbolize::NamedProfile& profile);
// The first kSegmentHeadBytes of a file, or more. Error: damaged, or of somebody else.
Result<SegmentFacts> decode_segment_head(std::string_view bytes);
// Of a file from its beginning on: as much as holds its sums too, as far as `bytes` tells.
std::size_t front_bytes_of(std::string_view bytes);
// decode_cpu_sums() takes them. Empty: it has none, or they end behind `bytes`.
std::string_view packed_sums_of(std::string_view bytes);
// Of one file.
inline constexpr std::size_t kMaxSegmentFileBytes = std::size_t{256} << 20;
// A whole file. Error: damaged; zstd's checksum covers the profile, and one of ours the head.
Result<symbolize::NamedProfile> decode_segment(std::string_view bytes);

}  // namespace bobbin::store
