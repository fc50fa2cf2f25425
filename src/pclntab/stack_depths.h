// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pclntab/pc_values.h"

namespace bobbin::pclntab {

// From `begin` to `end`, counted from the function's start, rsp stands `depth_bytes` below where it
// stood at the first instruction.
struct DepthSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int32_t depth_bytes = 0;
};

// Reads the `pcsp` of one function.
class StackDepths {
public:
    explicit StackDepths(std::span<const std::byte> bytes) : values_(bytes) {}

    // nullopt at the end, and where the bytes make no sense: damaged() says which.
    std::optional<DepthSpan> next();
    [[nodiscard]] bool damaged() const { return damaged_ || values_.damaged(); }

private:
    PcValues values_;
    bool damaged_ = false;
};

}  // namespace bobbin::pclntab
