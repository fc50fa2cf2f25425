// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_reader.h"

namespace bobbin::pclntab {

// From `begin` to `end`, counted from the function's start, something has this value: the stack its
// depth, the code its file or line.
struct ValueSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int32_t value = 0;
};

// Reads one table of a function in `pctab`: pairs of (value delta, zigzag; pc delta), the value
// beginning at -1, ended by a value delta of 0 anywhere but first (runtime/symtab.go, step).
class PcValues {
public:
    explicit PcValues(std::span<const std::byte> bytes) : in_(bytes) {}

    // nullopt at the end, and where the bytes make no sense: damaged() says which.
    std::optional<ValueSpan> next();
    [[nodiscard]] bool damaged() const { return damaged_; }

private:
    std::uint32_t read_varint();

    ByteReader in_;
    ValueSpan span_{.begin = 0, .end = 0, .value = -1};
    bool damaged_ = false;
};

}  // namespace bobbin::pclntab
