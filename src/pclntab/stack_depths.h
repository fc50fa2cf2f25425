// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_reader.h"

namespace bobbin::pclntab {

// From `begin` to `end`, counted from the function's start, rsp stands `depth_bytes` below where it
// stood at the first instruction.
struct DepthSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int32_t depth_bytes = 0;
};

// Reads the `pcsp` of one function: pairs of (value delta, zigzag; pc delta), the value beginning
// at -1, ended by a value delta of 0 anywhere but first (runtime/symtab.go, step).
class StackDepths {
public:
    explicit StackDepths(std::span<const std::byte> bytes) : in_(bytes) {}

    // nullopt at the end, and where the bytes make no sense: damaged() says which.
    std::optional<DepthSpan> next();
    [[nodiscard]] bool damaged() const { return damaged_; }

private:
    std::uint32_t read_varint();
    std::optional<DepthSpan> refuse();

    ByteReader in_;
    DepthSpan span_{.begin = 0, .end = 0, .depth_bytes = -1};
    bool damaged_ = false;
};

}  // namespace bobbin::pclntab
