// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/word_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace bobbin::unwind_feed {
namespace {

constexpr std::size_t kBucket = abi::BUCKET_WORDS;

std::optional<std::uint32_t> place(WordPool& pool, std::size_t word_count) {
    const std::optional<std::uint32_t> first_word = pool.find_room(word_count);
    if (first_word) {
        pool.take(*first_word, word_count);
    }
    return first_word;
}

TEST(WordPool, PutsSmallTablesOneBehindTheOther) {
    WordPool pool;
    EXPECT_EQ(place(pool, 32), 0U);
    EXPECT_EQ(place(pool, 16), 32U);
    EXPECT_EQ(place(pool, 160), 48U);
    EXPECT_EQ(pool.words_taken(), 208U);
    EXPECT_EQ(pool.bucket_count(), 1U);
}

TEST(WordPool, LetsNoSmallTableCrossABucket) {
    WordPool pool;
    EXPECT_EQ(place(pool, kBucket - 64), 0U);
    EXPECT_EQ(place(pool, 128), kBucket);
    EXPECT_EQ(place(pool, 64), kBucket - 64) << "it fills the first bucket";
    EXPECT_EQ(place(pool, 64), kBucket + 128);
}

TEST(WordPool, BeginsALargeTableAtABucketsStart) {
    WordPool pool;
    EXPECT_EQ(place(pool, 16), 0U);
    EXPECT_EQ(place(pool, 2 * kBucket + 16), kBucket);
    EXPECT_EQ(pool.bucket_count(), 4U);
    EXPECT_EQ(place(pool, kBucket - 16), 16U) << "room before it";
    EXPECT_EQ(place(pool, kBucket - 16), 3 * kBucket + 16) << "room behind it";
    EXPECT_EQ(place(pool, kBucket), 4 * kBucket);
    EXPECT_EQ(place(pool, 16), 5 * kBucket);
}

TEST(WordPool, TakesNothingByLooking) {
    WordPool pool;
    EXPECT_EQ(pool.find_room(kBucket), 0U);
    EXPECT_EQ(pool.find_room(16), 0U);
    EXPECT_EQ(pool.bucket_count(), 0U);
}

TEST(WordPool, RefusesWhatIsMoreThanThereIs) {
    WordPool pool;
    EXPECT_FALSE(place(pool, abi::MAX_BUCKETS * kBucket + 16));
    EXPECT_EQ(place(pool, 16), 0U);
    EXPECT_FALSE(place(pool, abi::MAX_BUCKETS * kBucket));
    EXPECT_EQ(place(pool, (abi::MAX_BUCKETS - 1) * kBucket), kBucket);
    EXPECT_EQ(place(pool, kBucket - 16), 16U);
    EXPECT_FALSE(place(pool, 16));
    EXPECT_EQ(pool.words_taken(), abi::MAX_BUCKETS * kBucket);
}

}  // namespace
}  // namespace bobbin::unwind_feed
