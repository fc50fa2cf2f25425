// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_feed {

// Which words of the pool are taken. A table that fits a bucket lies in one, so that no group of it
// straddles two; a larger one begins at a bucket's start, which is what its builder reckoned with.
// Buckets are filled from their start: what is free of one is its tail.
class WordPool {
public:
    // The first of `word_count` free words: in the first bucket with room for a small table, behind
    // all others for a large one. nullopt when MAX_BUCKETS do not suffice.
    [[nodiscard]] std::optional<std::uint32_t> find_room(std::size_t word_count) const;

    // Takes what find_room() gave for as many words.
    void take(std::uint32_t first_word, std::size_t word_count);

    [[nodiscard]] std::uint64_t words_taken() const { return words_taken_; }
    [[nodiscard]] std::size_t bucket_count() const { return taken_of_bucket_.size(); }

private:
    std::vector<std::uint32_t> taken_of_bucket_;  // words from its start; of buckets ever used
    std::uint64_t words_taken_ = 0;
};

}  // namespace bobbin::unwind_feed
