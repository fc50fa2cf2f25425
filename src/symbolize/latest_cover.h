// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace bobbin::symbolize {

// Which of many ranges covers an address, where each hides what those before it said. Takes memory
// for the addresses asked for only, and 2 log2(addresses) steps a range, however far it reaches: a
// tree over the addresses, in which a range leaves its value at the nodes that make it up.
template <class Value>
class LatestCover {
public:
    // `addresses` ascend and outlive this.
    explicit LatestCover(std::span<const std::uint64_t> addresses)
        : addresses_(addresses), nodes_(2 * addresses.size()) {}

    struct Indexes {
        std::size_t begin = 0;
        std::size_t end = 0;
        [[nodiscard]] bool empty() const { return begin == end; }
    };
    // The addresses in [start, start + size), which does not wrap around.
    [[nodiscard]] Indexes indexes_in(std::uint64_t start, std::uint64_t size) const {
        const auto first = std::lower_bound(addresses_.begin(), addresses_.end(), start);
        const auto last = std::lower_bound(first, addresses_.end(), start + size);
        return {static_cast<std::size_t>(first - addresses_.begin()),
                static_cast<std::size_t>(last - addresses_.begin())};
    }

    void put(Indexes range, Value value) {
        const Mark mark{++count_, std::make_shared<const Value>(std::move(value))};
        std::size_t left = range.begin + addresses_.size();
        std::size_t right = range.end + addresses_.size();
        for (; left < right; left /= 2, right /= 2) {
            if (left % 2 == 1) nodes_[left++] = mark;
            if (right % 2 == 1) nodes_[--right] = mark;
        }
    }

    // nullptr: no range covers it.
    [[nodiscard]] std::shared_ptr<const Value> at(std::size_t index) const {
        const Mark* latest = &nodes_[index + addresses_.size()];
        for (std::size_t node = index + addresses_.size(); node > 0; node /= 2) {
            if (nodes_[node].number > latest->number) latest = &nodes_[node];
        }
        return latest->value;
    }

private:
    struct Mark {
        std::uint64_t number = 0;
        std::shared_ptr<const Value> value;
    };

    std::span<const std::uint64_t> addresses_;
    std::vector<Mark> nodes_;  // leaves from addresses_.size() on; the parent of n is n / 2
    std::uint64_t count_ = 0;
};

}  // namespace bobbin::symbolize
