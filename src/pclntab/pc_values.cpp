// SPDX-License-Identifier: Apache-2.0
#include "pclntab/pc_values.h"

#include <limits>

namespace bobbin::pclntab {
namespace {

std::int64_t from_zigzag(std::uint32_t number) {
    const std::int64_t half = number >> 1;
    return (number & 1) != 0 ? -half - 1 : half;
}

}  // namespace

// Five bytes hold 32 bits; more would let a run of continuation bytes cost time in each function.
std::uint32_t PcValues::read_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        const std::uint8_t byte = in_.u8();
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) return static_cast<std::uint32_t>(value);
    }
    damaged_ = true;
    return 0;
}

std::optional<ValueSpan> PcValues::next() {
    if (damaged_) return std::nullopt;
    const std::uint32_t value_delta = read_varint();
    if (value_delta == 0 && span_.end != 0) return std::nullopt;
    const std::uint32_t pc_delta = read_varint();
    const std::int64_t value = span_.value + from_zigzag(value_delta);
    const std::uint64_t end = std::uint64_t{span_.end} + pc_delta;
    // The compiler gives no two values to one address, so each step moves on.
    if (damaged_ || !in_.ok() || pc_delta == 0 || end > std::numeric_limits<std::uint32_t>::max() ||
        value < std::numeric_limits<std::int32_t>::min() ||
        value > std::numeric_limits<std::int32_t>::max()) {
        damaged_ = true;
        return std::nullopt;
    }
    span_ = {.begin = span_.end,
             .end = static_cast<std::uint32_t>(end),
             .value = static_cast<std::int32_t>(value)};
    return span_;
}

}  // namespace bobbin::pclntab
