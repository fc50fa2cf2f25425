// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/line_items.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

namespace bobbin::unwind_table {
namespace {

constexpr std::size_t kWords = abi::LINE_WORDS;

// The fewest bytes in second lines, by dynamic programming over the items: all second lines but one
// are full, and that one has `rest_` items.
class Chooser {
public:
    explicit Chooser(std::span<const LineItem> items)
        : items_(items), line_count_(count_second_lines(items.size())) {
        assert(items.size() > kWords && items.size() <= kMaxGranuleItems);
        rest_ = count_rest(items.size());
        bytes_before_.reserve(items.size() + 1);
        std::uint64_t sum = 0;
        for (const LineItem& item : items) {
            bytes_before_.push_back(sum);
            sum += item.bytes;
        }
        bytes_before_.push_back(sum);
    }

    std::vector<ItemRange> choose() {
        fill_states();
        std::vector<ItemRange> ranges;
        std::size_t full = line_count_ - 1;
        bool has_rest = true;
        for (std::size_t end = items_.size(); end > 0;) {
            const Step step = state(end, full, has_rest).step;
            const std::size_t taken = items_taken(step);
            if (step != kStay) {
                ranges.push_back({end - taken, end});
            }
            full -= step == kFullLine ? 1 : 0;
            has_rest = has_rest && step != kRest;
            end -= taken;
        }
        std::ranges::reverse(ranges);
        return ranges;
    }

private:
    enum Step : std::uint8_t { kStay, kFullLine, kRest };  // what becomes of the last items
    struct State {
        std::uint64_t bytes = std::numeric_limits<std::uint32_t>::max();
        Step step = kStay;
    };

    [[nodiscard]] std::size_t items_taken(Step step) const {
        const std::size_t in_a_line = step == kFullLine ? kWords : rest_;
        return step == kStay ? 1 : in_a_line;
    }
    State& state(std::size_t item_count, std::size_t full_lines, bool has_rest) {
        return states_[(item_count * line_count_ + full_lines) * 2 + (has_rest ? 1 : 0)];
    }

    void fill_states() {
        states_.assign((items_.size() + 1) * line_count_ * 2, {});
        state(0, 0, false).bytes = 0;
        for (std::size_t end = 1; end <= items_.size(); ++end) {
            for (std::size_t full = 0; full < line_count_; ++full) {
                fill_state(end, full, false);
                fill_state(end, full, true);
            }
        }
    }

    void fill_state(std::size_t end, std::size_t full, bool has_rest) {
        State best{.bytes = state(end - 1, full, has_rest).bytes, .step = kStay};
        const auto consider = [&](Step step, std::size_t full_before, bool rest_before) {
            const std::size_t begin = end - items_taken(step);
            const std::uint64_t bytes = state(begin, full_before, rest_before).bytes +
                                        bytes_before_[end] - bytes_before_[begin];
            if (bytes < best.bytes) {
                best = {.bytes = bytes, .step = step};
            }
        };
        if (full > 0 && end >= kWords) {
            consider(kFullLine, full - 1, has_rest);
        }
        if (has_rest && end >= rest_) {
            consider(kRest, full, false);
        }
        state(end, full, has_rest) = best;
    }

    std::span<const LineItem> items_;
    std::size_t line_count_;
    std::size_t rest_ = 0;
    std::vector<std::uint64_t> bytes_before_;  // bytes that the first k items hold for
    std::vector<State> states_;  // by items done, full lines among them, and whether the rest is
};

}  // namespace

std::vector<ItemRange> choose_second_lines(std::span<const LineItem> items) {
    if (items.size() <= kWords) {
        return {};
    }
    return Chooser(items).choose();
}

}  // namespace bobbin::unwind_table
