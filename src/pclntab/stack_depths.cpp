// SPDX-License-Identifier: Apache-2.0
#include "pclntab/stack_depths.h"

#include <limits>

namespace bobbin::pclntab {
namespace {

// runtime.call1073741824 has 1 GiB and 56 bytes. One can still add to this.
constexpr std::int64_t kMaxDepthBytes = std::numeric_limits<std::int32_t>::max() - 64;
constexpr std::int64_t kWordBytes = 8;

std::int64_t from_zigzag(std::uint32_t number) {
    const std::int64_t half = number >> 1;
    return (number & 1) != 0 ? -half - 1 : half;
}

}  // namespace

// Five bytes hold 32 bits; more would let a run of continuation bytes cost time in each function.
std::uint32_t StackDepths::read_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        const std::uint8_t byte = in_.u8();
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) return static_cast<std::uint32_t>(value);
    }
    damaged_ = true;
    return 0;
}

std::optional<DepthSpan> StackDepths::refuse() {
    damaged_ = true;
    return std::nullopt;
}

std::optional<DepthSpan> StackDepths::next() {
    if (damaged_) return std::nullopt;
    const std::uint32_t value_delta = read_varint();
    if (value_delta == 0 && span_.end != 0) return std::nullopt;
    const std::uint32_t pc_delta = read_varint();
    const std::int64_t depth = span_.depth_bytes + from_zigzag(value_delta);
    const std::uint64_t end = std::uint64_t{span_.end} + pc_delta;
    // The compiler gives no two values to one address, so each step moves on; the least depth is
    // that of syscall.rawVforkSyscall, which pops its own return address.
    if (damaged_ || !in_.ok() || pc_delta == 0 || end > std::numeric_limits<std::uint32_t>::max() ||
        depth < -kWordBytes || depth > kMaxDepthBytes || depth % kWordBytes != 0) {
        return refuse();
    }
    span_ = {.begin = span_.end,
             .end = static_cast<std::uint32_t>(end),
             .depth_bytes = static_cast<std::int32_t>(depth)};
    return span_;
}

}  // namespace bobbin::pclntab
