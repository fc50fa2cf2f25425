// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bobbin/bpf_abi.h"

namespace bobbin::user_walk {

// A walk that the kernel side could not end (bobbin/bpf_abi.h, "a walk that waits for a table").
struct PausedWalk {
    abi::paused_walk position{};  // moves when the walk goes on; the rest stays as it was
    std::span<const abi::paused_mapping> mappings;  // borrowed; ascending, none overlaps another
    std::span<const std::byte> stack;               // borrowed; the present blocks
};

// nullopt: sizes, order or flags are not as bpf_abi.h says, or nothing says which file is awaited.
// `bytes` are aligned to 8, as records are.
std::optional<PausedWalk> parse_paused_walk(std::span<const std::byte> bytes);

// What a paused walk can read of its process: the blocks of its stack that are present.
class PausedMemory {
public:
    explicit PausedMemory(const PausedWalk& walk)
        : description_(walk.position), bytes_(walk.stack) {}

    // Copies from `vaddr` on until `to` is full or a block is absent; returns how many bytes.
    std::size_t read(std::uint64_t vaddr, std::span<std::byte> to) const;
    // The blocks from the lowest on that follow each other without a gap.
    [[nodiscard]] std::span<const std::byte> first_run() const;

private:
    // What is there of the block from `offset` in the span on; empty: nothing.
    [[nodiscard]] std::span<const std::byte> from_offset(std::uint64_t offset) const;

    const abi::paused_walk& description_;
    std::span<const std::byte> bytes_;
};

}  // namespace bobbin::user_walk
