// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace bobbin::executable {

// Hands files from the opener to the builders, small ones first: a hundred programs of 50 KB are
// ready before one browser. A large one is passed over at most kMaxPassed times. Any thread.
template <class T>
class SmallFirstQueue {
public:
    static constexpr std::uint64_t kMaxPassed = 32;
    // What a builder who takes only small files does not touch: one of them is always free for a
    // new program, however many large ones arrive together.
    static constexpr std::uint64_t kMaxSmallBytes = 4 << 20;

    void push(T value, std::uint64_t size_bytes) {
        {
            const std::scoped_lock lock(mutex_);
            values_.emplace(std::pair(size_bytes, arrivals_), Waiting{std::move(value), pops_});
            order_.emplace(arrivals_++, size_bytes);
        }
        // A large file is nothing to whom a single call might wake.
        size_bytes <= kMaxSmallBytes ? arrived_.notify_one() : arrived_.notify_all();
    }

    // Waits for a value; nullopt once `stop` is requested.
    std::optional<T> pop(const std::stop_token& stop) {
        return pop_up_to(stop, std::numeric_limits<std::uint64_t>::max());
    }
    std::optional<T> pop_small(const std::stop_token& stop) {
        return pop_up_to(stop, kMaxSmallBytes);
    }

private:
    std::optional<T> pop_up_to(const std::stop_token& stop, std::uint64_t max_size_bytes) {
        std::unique_lock lock(mutex_);
        const auto is_there = [&] {
            return !values_.empty() && values_.begin()->first.first <= max_size_bytes;
        };
        if (!arrived_.wait(lock, stop, is_there)) return std::nullopt;
        const auto next = choose(max_size_bytes);
        T value = std::move(next->second.value);
        order_.erase(next->first.second);
        values_.erase(next);
        ++pops_;
        return value;
    }

    struct Waiting {
        T value;
        std::uint64_t pops_before;
    };
    using Values = std::map<std::pair<std::uint64_t, std::uint64_t>, Waiting>;

    typename Values::iterator choose(std::uint64_t max_size_bytes) {
        const auto [arrival, size_bytes] = *order_.begin();
        const auto oldest = values_.find({size_bytes, arrival});
        const bool waited_long = pops_ - oldest->second.pops_before >= kMaxPassed;
        return waited_long && size_bytes <= max_size_bytes ? oldest : values_.begin();
    }

    std::mutex mutex_;
    std::condition_variable_any arrived_;
    Values values_;                                 // by size, then arrival
    std::map<std::uint64_t, std::uint64_t> order_;  // arrival -> size
    std::uint64_t arrivals_ = 0;
    std::uint64_t pops_ = 0;
};

}  // namespace bobbin::executable
