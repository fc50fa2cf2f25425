// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/word_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace bobbin::unwind_feed {
namespace {

constexpr std::size_t kBucket = abi::BUCKET_WORDS;

std::optional<std::uint32_t> place(WordPool& pool, std::size_t word_count) {
    const std::optional<std::uint32_t> first_word = pool.find_room(word_count);
    if (first_word) {
        for (const std::uint32_t bucket : pool.drop_first(*first_word, word_count)) {
            pool.drop_bucket(bucket);
        }
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
    WordPool pool(4);
    EXPECT_FALSE(place(pool, 4 * kBucket + 16));
    EXPECT_EQ(place(pool, 16), 0U);
    EXPECT_FALSE(place(pool, 4 * kBucket));
    EXPECT_EQ(place(pool, 3 * kBucket), kBucket);
    EXPECT_EQ(place(pool, kBucket - 16), 16U);
    EXPECT_FALSE(place(pool, 16));
    EXPECT_EQ(pool.words_taken(), 4 * kBucket);
    EXPECT_EQ(pool.capacity_words(), 4 * kBucket);
}

TEST(WordPool, GivesReleasedWordsToOthersAndJoinsNeighbours) {
    WordPool pool(1);
    const auto a = place(pool, 1024);
    const auto b = place(pool, 2048);
    const auto c = place(pool, 512);
    ASSERT_TRUE(place(pool, kBucket - 1024 - 2048 - 512));
    EXPECT_FALSE(pool.find_room(16));
    pool.release(*a, 1024);
    pool.release(*c, 512);
    EXPECT_FALSE(pool.find_room(2048)) << "two pieces, neither large enough";
    pool.release(*b, 2048);
    EXPECT_EQ(pool.find_room(1024 + 2048 + 512), 0U) << "now they are one";
    EXPECT_EQ(place(pool, 64), 0U);
    EXPECT_EQ(pool.words_taken(), kBucket - 1024 - 2048 - 512 + 64);
}

TEST(WordPool, NamesTheBucketsInWhichNothingLies) {
    WordPool pool(3);
    ASSERT_EQ(place(pool, 2 * kBucket + 32), 0U);
    EXPECT_TRUE(pool.unused_buckets().empty());
    pool.release(0, 2 * kBucket + 32);
    EXPECT_EQ(pool.unused_buckets(), (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(pool.bucket_count(), 3U) << "they exist until somebody drops them";
    pool.drop_bucket(1);
    EXPECT_EQ(pool.unused_buckets(), (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(pool.missing_buckets(0, 3 * kBucket), std::vector<std::uint32_t>{1});
}

TEST(WordPool, DropsUnusedBucketsForThoseALargeTableNeeds) {
    WordPool pool(4);
    ASSERT_EQ(place(pool, kBucket), 0U);
    ASSERT_EQ(place(pool, kBucket), kBucket);
    ASSERT_EQ(place(pool, kBucket), 2 * kBucket);
    pool.release(0, kBucket);
    pool.release(2 * kBucket, kBucket);
    // 0 and 2 exist and are free, 1 is taken: three in a row begin at 2, and 0 has to go.
    EXPECT_EQ(pool.find_room(3 * kBucket), 2 * kBucket);
    EXPECT_EQ(pool.missing_buckets(2 * kBucket, 3 * kBucket), (std::vector<std::uint32_t>{3, 4}));
    EXPECT_EQ(pool.drop_first(2 * kBucket, 3 * kBucket), std::vector<std::uint32_t>{0});
    ASSERT_EQ(place(pool, 3 * kBucket), 2 * kBucket);
    EXPECT_EQ(pool.bucket_count(), 4U);
    EXPECT_FALSE(pool.find_room(16));
}

// Tables come and go in any order: they never overlap, small ones never cross a bucket, and no more
// buckets exist than may.
TEST(WordPool, KeepsTablesApartHoweverTheyComeAndGo) {
    constexpr std::size_t kMaxBuckets = 5;
    WordPool pool(kMaxBuckets);
    std::map<std::uint32_t, std::size_t> placed;
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same each time
    std::uint64_t words = 0;
    for (int turn = 0; turn < 20'000; ++turn) {
        if (random() % 2 == 0 && !placed.empty()) {
            const auto gone =
                std::next(placed.begin(), static_cast<std::ptrdiff_t>(random() % placed.size()));
            pool.release(gone->first, gone->second);
            words -= gone->second;
            placed.erase(gone);
        } else {
            const std::size_t count = 16 * (1 + random() % (turn % 50 == 0 ? 40'000 : 2'000));
            const auto at = place(pool, count);
            if (!at) continue;
            ASSERT_EQ(count <= kBucket ? *at / kBucket : 0,
                      count <= kBucket ? (*at + count - 1) / kBucket : *at % kBucket);
            const auto next = placed.lower_bound(*at);
            ASSERT_TRUE(next == placed.end() || *at + count <= next->first);
            ASSERT_TRUE(next == placed.begin() ||
                        std::prev(next)->first + std::prev(next)->second <= *at);
            placed.emplace(*at, count);
            words += count;
        }
        ASSERT_EQ(pool.words_taken(), words);
        ASSERT_LE(pool.bucket_count(), kMaxBuckets);
    }
    for (const auto& [at, count] : placed) pool.release(at, count);
    EXPECT_EQ(pool.unused_buckets().size(), pool.bucket_count());
    EXPECT_EQ(pool.find_room(kMaxBuckets * kBucket), 0U) << "all of it in one piece again";
}

}  // namespace
}  // namespace bobbin::unwind_feed
