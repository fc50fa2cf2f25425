// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/word_pool.h"

#include <algorithm>
#include <cassert>

namespace bobbin::unwind_feed {
namespace {

constexpr std::size_t kBucketWords = abi::BUCKET_WORDS;

}  // namespace

std::optional<std::uint32_t> WordPool::find_room(std::size_t word_count) const {
    const std::size_t bucket_count = taken_of_bucket_.size();
    std::size_t bucket = bucket_count;
    if (word_count <= kBucketWords) {
        const auto has_room = [word_count](std::uint32_t taken) {
            return kBucketWords - taken >= word_count;
        };
        bucket = static_cast<std::size_t>(std::ranges::find_if(taken_of_bucket_, has_room) -
                                          taken_of_bucket_.begin());
    }
    const std::size_t taken = bucket < bucket_count ? taken_of_bucket_[bucket] : 0;
    const std::size_t first_word = bucket * kBucketWords + taken;
    if (word_count > abi::MAX_BUCKETS * kBucketWords - first_word) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(first_word);
}

void WordPool::take(std::uint32_t first_word, std::size_t word_count) {
    assert(first_word % abi::TABLE_ALIGNMENT_WORDS == 0 &&
           word_count % abi::TABLE_ALIGNMENT_WORDS == 0);
    words_taken_ += word_count;
    std::size_t bucket = first_word / kBucketWords;
    std::size_t end_in_bucket = first_word % kBucketWords + word_count;
    while (end_in_bucket > 0) {
        if (bucket == taken_of_bucket_.size()) {
            taken_of_bucket_.push_back(0);
        }
        const std::size_t here = std::min(end_in_bucket, kBucketWords);
        taken_of_bucket_[bucket++] = static_cast<std::uint32_t>(here);
        end_in_bucket -= here;
    }
}

}  // namespace bobbin::unwind_feed
