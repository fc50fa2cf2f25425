// SPDX-License-Identifier: Apache-2.0
#include "pclntab/stack_depths.h"

#include <limits>

namespace bobbin::pclntab {

std::optional<DepthSpan> StackDepths::next() {
    // runtime.call1073741824 has 1 GiB and 56 bytes. One can still add to this.
    constexpr std::int32_t kMaxDepthBytes = std::numeric_limits<std::int32_t>::max() - 64;
    // The least depth is that of syscall.rawVforkSyscall, which pops its own return address.
    constexpr std::int32_t kWordBytes = 8;
    if (damaged()) return std::nullopt;
    const std::optional<ValueSpan> span = values_.next();
    if (!span) return std::nullopt;
    if (span->value < -kWordBytes || span->value > kMaxDepthBytes ||
        span->value % kWordBytes != 0) {
        damaged_ = true;
        return std::nullopt;
    }
    return DepthSpan{.begin = span->begin, .end = span->end, .depth_bytes = span->value};
}

}  // namespace bobbin::pclntab
