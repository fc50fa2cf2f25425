// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace bobbin {

// Hands values from threads to the next step's, each to one of these, in order. Not bounded: what
// goes in is bounded by the kernel side, which announces a file once.
template <class T>
class HandoffQueue {
public:
    void push(T value) {
        {
            const std::scoped_lock lock(mutex_);
            values_.push_back(std::move(value));
        }
        arrived_.notify_one();
    }

    // Waits for a value; nullopt once `stop` is requested.
    std::optional<T> pop(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        if (!arrived_.wait(lock, stop, [this] { return !values_.empty(); })) return std::nullopt;
        return take_first();
    }

    // All there is, in order; waits at most `timeout` for the first.
    std::deque<T> pop_all(const std::stop_token& stop, std::chrono::milliseconds timeout) {
        std::unique_lock lock(mutex_);
        arrived_.wait_for(lock, stop, timeout, [this] { return !values_.empty(); });
        return std::exchange(values_, {});
    }

private:
    T take_first() {
        T value = std::move(values_.front());
        values_.pop_front();
        return value;
    }

    std::mutex mutex_;
    std::condition_variable_any arrived_;
    std::deque<T> values_;
};

}  // namespace bobbin
