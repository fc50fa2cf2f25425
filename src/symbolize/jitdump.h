// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "symbolize/byte_source.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

// Reads what a runtime dumps of the code it generates, in perf's format
// (tools/perf/Documentation/jitdump-specification.txt, version 1): a name and, where the runtime
// says them, file and line. One frame for each of `addresses`, which ascend; without a name: no
// record covers it.
//
// Records have times, but counted samples have none any more: the last record that covers an
// address names it, as in a perf map. Reading stops at a record that cannot be one, or where the
// file is not written yet, and keeps what it has; of a file larger than kMaxJitdumpBytes the
// beginning is read. Memory is taken for `addresses` only. Error: it is no jitdump, of another
// version, or of a machine with another byte order.
inline constexpr std::uint64_t kMaxJitdumpBytes = 1ULL << 30;
Result<std::vector<NamedFrame>> read_jitdump(const ByteSource& file,
                                             std::span<const std::uint64_t> addresses);

}  // namespace bobbin::symbolize
