// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace bobbin::sampler {

// A map that forgets what was put in first once it is full.
template <class Key, class Value>
class BoundedMap {
public:
    explicit BoundedMap(std::size_t max_size) : max_size_(max_size) {}

    [[nodiscard]] const Value* find(const Key& key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? nullptr : &found->second;
    }
    void put(const Key& key, Value value) {
        const auto [place, is_new] = values_.insert_or_assign(key, std::move(value));
        if (!is_new) return;
        order_.push_back(place);
        if (order_.size() <= max_size_) return;
        values_.erase(order_.front());
        order_.pop_front();
    }
    [[nodiscard]] std::size_t size() const { return values_.size(); }

private:
    std::size_t max_size_;
    std::map<Key, Value> values_;
    std::deque<typename std::map<Key, Value>::iterator> order_;  // oldest first
};

}  // namespace bobbin::sampler
