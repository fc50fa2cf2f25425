// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_feed {

// Which words of the pool are taken, and which buckets exist. A table that fits a bucket lies in
// one; a larger one begins at a bucket's start. No line straddles two. A value: a copy serves to
// try out what releasing would give.
class WordPool {
public:
    // At most `max_buckets` exist at a time, under any of MAX_BUCKETS indices: large tables find
    // neighbours.
    explicit WordPool(std::size_t max_buckets = abi::MAX_BUCKETS);

    // The first of `word_count` free words: in the first bucket with room for a small table, in the
    // first row of wholly free ones for a large table. nullopt: not without releasing something.
    // What exists and is not in use counts as room for what does not: drop_first() says what has to
    // go before take().
    [[nodiscard]] std::optional<std::uint32_t> find_room(std::size_t word_count) const;

    // Buckets that the range needs and that do not exist, and as many unused ones as have to be
    // dropped for them.
    [[nodiscard]] std::vector<std::uint32_t> missing_buckets(std::uint32_t first_word,
                                                             std::size_t word_count) const;
    [[nodiscard]] std::vector<std::uint32_t> drop_first(std::uint32_t first_word,
                                                        std::size_t word_count) const;

    // Takes what find_room() gave for as many words; buckets that are missing exist from here on.
    void take(std::uint32_t first_word, std::size_t word_count);
    void release(std::uint32_t first_word, std::size_t word_count);

    void add_bucket(std::uint32_t bucket);
    void drop_bucket(std::uint32_t bucket);  // an unused one
    [[nodiscard]] std::vector<std::uint32_t> unused_buckets() const;

    [[nodiscard]] std::uint64_t words_taken() const { return words_taken_; }
    [[nodiscard]] std::uint64_t capacity_words() const;
    [[nodiscard]] std::size_t bucket_count() const { return bucket_count_; }

private:
    struct Bucket {
        bool exists = false;
        std::uint32_t words_taken = 0;
        std::map<std::uint32_t, std::uint32_t> free;  // first word -> words, never neighbours

        [[nodiscard]] bool is_unused() const { return words_taken == 0; }
        void add_free(std::uint32_t begin, std::uint32_t words);
    };

    [[nodiscard]] std::optional<std::uint32_t> find_small(std::uint32_t word_count) const;
    [[nodiscard]] std::optional<std::uint32_t> find_large(std::size_t word_count) const;
    [[nodiscard]] bool may_exist_besides(std::size_t missing, std::size_t unused_in_range) const;
    [[nodiscard]] bool begins_free(std::uint32_t bucket, std::size_t word_count) const;

    std::size_t max_buckets_;
    std::vector<Bucket> buckets_;
    std::size_t bucket_count_ = 0;
    std::size_t unused_count_ = 0;  // of those that exist
    std::uint64_t words_taken_ = 0;
};

}  // namespace bobbin::unwind_feed
