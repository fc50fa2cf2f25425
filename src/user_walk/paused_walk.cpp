// SPDX-License-Identifier: Apache-2.0
#include "user_walk/paused_walk.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace bobbin::user_walk {
namespace {

constexpr std::size_t kBlock = abi::STACK_BLOCK_BYTES;
constexpr std::size_t kBlocksOfWord = 64;
constexpr std::uint32_t kKnownFlags =
    abi::PAUSED_AT_RETURN_ADDRESS | abi::PAUSED_RBX_KNOWN | abi::PAUSED_MAPPINGS_CUT;

bool is_present(const abi::paused_walk& walk, std::size_t block) {
    return (walk.present[block / kBlocksOfWord] >> (block % kBlocksOfWord) & 1) != 0;
}

// How many blocks below `block` are present.
std::size_t present_below(const abi::paused_walk& walk, std::size_t block) {
    std::size_t count = 0;
    for (std::size_t word = 0; word < block / kBlocksOfWord; ++word) {
        count += static_cast<std::size_t>(std::popcount(walk.present[word]));
    }
    const std::size_t rest = block % kBlocksOfWord;
    if (rest == 0) return count;
    const std::uint64_t lower = walk.present[block / kBlocksOfWord] << (kBlocksOfWord - rest);
    return count + static_cast<std::size_t>(std::popcount(lower));
}

std::size_t blocks_of(const abi::paused_walk& walk) {
    return (walk.stack_span_bytes + kBlock - 1) / kBlock;
}

// The last block of the span may be short.
std::size_t present_bytes(const abi::paused_walk& walk) {
    const std::size_t blocks = blocks_of(walk);
    std::size_t bytes = present_below(walk, blocks) * kBlock;
    if (blocks != 0 && is_present(walk, blocks - 1)) {
        bytes -= blocks * kBlock - walk.stack_span_bytes;
    }
    return bytes;
}

bool has_block_behind_span(const abi::paused_walk& walk) {
    for (std::size_t block = blocks_of(walk); block < abi::MAX_STACK_BLOCKS; ++block) {
        if (is_present(walk, block)) return true;
    }
    return false;
}

bool is_sound(const abi::paused_walk& walk) {
    if (walk.stack_span_bytes > abi::MAX_STACK_SPAN_BYTES ||
        walk.stack_bytes > abi::MAX_STACK_COPY_BYTES ||
        walk.mapping_count > abi::MAX_PAUSED_MAPPINGS) {
        return false;
    }
    if (walk.stack_vaddr % 8 != 0 || walk.stack_vaddr > UINT64_MAX - abi::MAX_STACK_SPAN_BYTES) {
        return false;
    }
    if (has_block_behind_span(walk) || present_bytes(walk) != walk.stack_bytes) return false;
    return walk.awaited_executable_id != 0 &&
           walk.awaited_executable_id < abi::MAX_EXECUTABLE_IDS &&
           (walk.flags & ~kKnownFlags) == 0 && walk.by_frame_pointer < abi::WALK_END_COUNT;
}

bool is_sound(std::span<const abi::paused_mapping> mappings) {
    std::uint64_t end_of_last_vaddr = 0;
    for (const abi::paused_mapping& mapping : mappings) {
        if (mapping.vm_start_vaddr < end_of_last_vaddr ||
            mapping.vm_end_vaddr <= mapping.vm_start_vaddr ||
            mapping.executable_id >= abi::MAX_EXECUTABLE_IDS) {
            return false;
        }
        end_of_last_vaddr = mapping.vm_end_vaddr;
    }
    return true;
}

}  // namespace

std::optional<PausedWalk> parse_paused_walk(std::span<const std::byte> bytes) {
    PausedWalk walk;
    if (bytes.size() < sizeof(walk.position)) return std::nullopt;
    std::memcpy(&walk.position, bytes.data(), sizeof(walk.position));
    bytes = bytes.subspan(sizeof(walk.position));
    if (!is_sound(walk.position)) return std::nullopt;
    const std::size_t count = walk.position.mapping_count;
    const std::size_t mapping_bytes = count * sizeof(abi::paused_mapping);
    if (bytes.size() != mapping_bytes + walk.position.stack_bytes) return std::nullopt;
    walk.mappings = {reinterpret_cast<const abi::paused_mapping*>(bytes.data()), count};
    walk.stack = bytes.subspan(mapping_bytes);
    if (!is_sound(walk.mappings)) return std::nullopt;
    return walk;
}

std::span<const std::byte> PausedMemory::from_offset(std::uint64_t offset) const {
    if (offset >= description_.stack_span_bytes) return {};
    const auto block = static_cast<std::size_t>(offset / kBlock);
    if (!is_present(description_, block)) return {};
    const std::size_t begin = present_below(description_, block) * kBlock;
    const std::span<const std::byte> here =
        bytes_.subspan(begin, std::min(kBlock, bytes_.size() - begin));
    const std::size_t in_block = offset % kBlock;
    return in_block < here.size() ? here.subspan(in_block) : std::span<const std::byte>{};
}

std::size_t PausedMemory::read(std::uint64_t vaddr, std::span<std::byte> to) const {
    // Below the stack it wraps around and is beyond the span.
    std::uint64_t offset = vaddr - description_.stack_vaddr;
    std::size_t done = 0;
    while (done < to.size()) {
        const std::span<const std::byte> here = from_offset(offset);
        if (here.empty()) break;
        const std::size_t length = std::min(here.size(), to.size() - done);
        std::memcpy(to.data() + done, here.data(), length);
        done += length;
        offset += length;
    }
    return done;
}

std::span<const std::byte> PausedMemory::first_run() const {
    std::size_t blocks = 0;
    while (blocks < blocks_of(description_) && is_present(description_, blocks)) ++blocks;
    return bytes_.first(std::min(blocks * kBlock, bytes_.size()));
}

}  // namespace bobbin::user_walk
