// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace bobbin::test {

// gcc 12 takes vector::insert() of bytes for an overflow.
inline void append(std::vector<std::byte>& to, std::span<const std::byte> part) {
    const std::size_t at = to.size();
    to.resize(at + part.size());
    if (!part.empty()) std::memcpy(to.data() + at, part.data(), part.size());
}

// What the kernel side writes behind the frames of a sample whose walk it paused.
struct PausedRecord {
    abi::paused_walk walk{};
    std::vector<abi::paused_mapping> mappings;
    std::vector<std::byte> stack;

    // All of `words` is present, from `vaddr` on.
    void set_stack(std::uint64_t vaddr, std::span<const std::uint64_t> words) {
        const auto bytes = std::as_bytes(words);
        stack.assign(bytes.begin(), bytes.end());
        walk.stack_vaddr = vaddr;
        walk.stack_span_bytes = static_cast<std::uint32_t>(bytes.size());
        std::ranges::fill(walk.present, std::uint64_t{0});
        for (std::size_t at = 0; at < bytes.size(); at += abi::STACK_BLOCK_BYTES) {
            const std::size_t block = at / abi::STACK_BLOCK_BYTES;
            walk.present[block / 64] |= std::uint64_t{1} << block % 64;
        }
    }

    [[nodiscard]] std::vector<std::byte> bytes() const {
        abi::paused_walk head = walk;
        head.mapping_count = static_cast<std::uint32_t>(mappings.size());
        head.stack_bytes = static_cast<std::uint32_t>(stack.size());
        std::vector<std::byte> result;
        append(result, std::as_bytes(std::span(&head, 1)));
        append(result, std::as_bytes(std::span(mappings)));
        append(result, stack);
        return result;
    }
};

}  // namespace bobbin::test
