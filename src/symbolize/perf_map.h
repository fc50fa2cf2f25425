// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "symbolize/byte_source.h"

namespace bobbin::symbolize {

struct PerfMapNames {
    std::vector<std::string> names;  // one for each address asked for; empty: none
    std::uint64_t malformed_line_count = 0;
};

// Reads the text that a runtime writes for profilers, a line for each piece of code it generates:
// "7f1a2c3d4000 1a0 name to the end of the line", both numbers in hex, with 0x or without (HotSpot
// writes it). Code is freed and its place used again, and the file has no times: the last line that
// covers an address names it. So code that has made room for other code during a recording goes by
// the name of what followed it.
//
// Of a file larger than kMaxPerfMapBytes the end counts, of a line its first kMaxPerfMapLineBytes.
// `addresses` ascend; memory is taken for them only.
inline constexpr std::uint64_t kMaxPerfMapBytes = 256ULL << 20;  // 2.5 million lines of node's
inline constexpr std::size_t kMaxPerfMapLineBytes = 4096;
PerfMapNames read_perf_map(const ByteSource& file, std::span<const std::uint64_t> addresses);

}  // namespace bobbin::symbolize
