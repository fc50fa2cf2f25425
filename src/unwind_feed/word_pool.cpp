// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/word_pool.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace bobbin::unwind_feed {
namespace {

constexpr std::uint32_t kBucketWords = abi::BUCKET_WORDS;

std::uint32_t first_bucket_of(std::uint32_t first_word) { return first_word / kBucketWords; }

std::uint32_t end_bucket_of(std::uint32_t first_word, std::size_t word_count) {
    return static_cast<std::uint32_t>((first_word + word_count + kBucketWords - 1) / kBucketWords);
}

// Calls `visit(bucket, first word in it, words in it)` for each part of the range.
template <class Visit>
void for_each_part(std::uint32_t first_word, std::size_t word_count, const Visit& visit) {
    std::uint32_t begin = first_word % kBucketWords;
    for (std::uint32_t bucket = first_bucket_of(first_word); word_count > 0; ++bucket) {
        const auto here =
            static_cast<std::uint32_t>(std::min<std::size_t>(word_count, kBucketWords - begin));
        visit(bucket, begin, here);
        word_count -= here;
        begin = 0;
    }
}

}  // namespace

WordPool::WordPool(std::size_t max_buckets)
    : max_buckets_(std::min<std::size_t>(max_buckets, abi::MAX_BUCKETS)),
      buckets_(abi::MAX_BUCKETS) {
    for (Bucket& bucket : buckets_) bucket.free = {{0, kBucketWords}};
}

std::uint64_t WordPool::capacity_words() const {
    return std::uint64_t{max_buckets_} * kBucketWords;
}

// Unused buckets outside a range may be dropped in favour of what it misses.
bool WordPool::may_exist_besides(std::size_t missing, std::size_t unused_in_range) const {
    return bucket_count_ - (unused_count_ - unused_in_range) + missing <= max_buckets_;
}

std::optional<std::uint32_t> WordPool::find_room(std::size_t word_count) const {
    if (word_count == 0) return 0;
    return word_count <= kBucketWords ? find_small(static_cast<std::uint32_t>(word_count))
                                      : find_large(word_count);
}

std::optional<std::uint32_t> WordPool::find_small(std::uint32_t word_count) const {
    std::optional<std::uint32_t> missing;
    for (std::uint32_t i = 0; i < buckets_.size(); ++i) {
        const Bucket& bucket = buckets_[i];
        if (!bucket.exists) {
            if (!missing) missing = i * kBucketWords;
            continue;
        }
        if (kBucketWords - bucket.words_taken < word_count) continue;
        const auto range = std::ranges::find_if(
            bucket.free, [word_count](const auto& free) { return free.second >= word_count; });
        if (range != bucket.free.end()) return i * kBucketWords + range->first;
    }
    return may_exist_besides(1, 0) ? missing : std::nullopt;
}

bool WordPool::begins_free(std::uint32_t bucket, std::size_t word_count) const {
    const auto range = buckets_[bucket].free.find(0);
    return range != buckets_[bucket].free.end() && range->second >= word_count;
}

std::optional<std::uint32_t> WordPool::find_large(std::size_t word_count) const {
    const std::size_t whole = word_count / kBucketWords;
    const std::size_t rest = word_count % kBucketWords;
    const std::size_t count = whole + (rest > 0 ? 1 : 0);
    for (std::uint32_t first = 0; first + count <= buckets_.size(); ++first) {
        std::size_t missing = 0;
        std::size_t unused = 0;
        std::size_t at = 0;
        for (; at < count; ++at) {
            const auto bucket = static_cast<std::uint32_t>(first + at);
            if (!begins_free(bucket, at < whole ? kBucketWords : rest)) break;
            missing += buckets_[bucket].exists ? 0 : 1;
            unused += buckets_[bucket].exists && buckets_[bucket].is_unused() ? 1 : 0;
        }
        if (at == count && may_exist_besides(missing, unused)) return first * kBucketWords;
    }
    return std::nullopt;
}

std::vector<std::uint32_t> WordPool::missing_buckets(std::uint32_t first_word,
                                                     std::size_t word_count) const {
    std::vector<std::uint32_t> missing;
    for_each_part(first_word, word_count, [&](std::uint32_t bucket, std::uint32_t, std::uint32_t) {
        if (!buckets_[bucket].exists) missing.push_back(bucket);
    });
    return missing;
}

std::vector<std::uint32_t> WordPool::drop_first(std::uint32_t first_word,
                                                std::size_t word_count) const {
    const std::size_t wanted = bucket_count_ + missing_buckets(first_word, word_count).size();
    std::vector<std::uint32_t> drop = unused_buckets();
    std::erase_if(drop, [&](std::uint32_t bucket) {
        return bucket >= first_bucket_of(first_word) &&
               bucket < end_bucket_of(first_word, word_count);
    });
    const std::size_t too_many = wanted > max_buckets_ ? wanted - max_buckets_ : 0;
    drop.resize(std::min(drop.size(), too_many));
    return drop;
}

void WordPool::take(std::uint32_t first_word, std::size_t word_count) {
    assert(first_word % abi::TABLE_ALIGNMENT_WORDS == 0 &&
           word_count % abi::TABLE_ALIGNMENT_WORDS == 0);
    words_taken_ += word_count;
    for_each_part(first_word, word_count,
                  [this](std::uint32_t at, std::uint32_t begin, std::uint32_t words) {
                      add_bucket(at);
                      Bucket& bucket = buckets_[at];
                      const auto range = std::prev(bucket.free.upper_bound(begin));
                      const auto [free_begin, free_words] = *range;
                      assert(begin >= free_begin && begin + words <= free_begin + free_words);
                      bucket.free.erase(range);
                      if (begin > free_begin) bucket.free.emplace(free_begin, begin - free_begin);
                      const std::uint32_t behind = free_begin + free_words - (begin + words);
                      if (behind > 0) bucket.free.emplace(begin + words, behind);
                      if (bucket.is_unused()) --unused_count_;
                      bucket.words_taken += words;
                  });
}

// A range that became free, made one with its neighbours.
void WordPool::Bucket::add_free(std::uint32_t begin, std::uint32_t words) {
    auto range = free.emplace(begin, words).first;
    const auto next = std::next(range);
    if (next != free.end() && begin + words == next->first) {
        range->second += next->second;
        free.erase(next);
    }
    if (range == free.begin()) return;
    const auto before = std::prev(range);
    if (before->first + before->second != begin) return;
    before->second += range->second;
    free.erase(range);
}

void WordPool::release(std::uint32_t first_word, std::size_t word_count) {
    words_taken_ -= word_count;
    for_each_part(first_word, word_count,
                  [this](std::uint32_t at, std::uint32_t begin, std::uint32_t words) {
                      Bucket& bucket = buckets_[at];
                      bucket.add_free(begin, words);
                      bucket.words_taken -= words;
                      if (bucket.is_unused()) ++unused_count_;
                  });
}

void WordPool::add_bucket(std::uint32_t bucket) {
    if (buckets_[bucket].exists) return;
    buckets_[bucket].exists = true;
    ++bucket_count_;
    ++unused_count_;
}

void WordPool::drop_bucket(std::uint32_t bucket) {
    assert(buckets_[bucket].exists && buckets_[bucket].is_unused());
    buckets_[bucket].exists = false;
    --bucket_count_;
    --unused_count_;
}

std::vector<std::uint32_t> WordPool::unused_buckets() const {
    std::vector<std::uint32_t> unused;
    if (unused_count_ == 0) return unused;
    for (std::uint32_t i = 0; i < buckets_.size(); ++i) {
        if (buckets_[i].exists && buckets_[i].is_unused()) unused.push_back(i);
    }
    return unused;
}

}  // namespace bobbin::unwind_feed
