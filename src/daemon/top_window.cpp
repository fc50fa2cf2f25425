// SPDX-License-Identifier: Apache-2.0
#include "daemon/top_window.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bobbin::daemon {
namespace {

std::uint64_t bytes_of(const aggregate::CountedStack& stack) {
    return sizeof(stack) +
           (stack.kernel_frames.size() + stack.user_frames.size()) * sizeof(abi::frame_word);
}

}  // namespace

void TopWindow::remove_oldest() {
    const Interval oldest = intervals_.front();
    intervals_.pop_front();
    duration_ -= oldest.duration;
    bytes_ -= oldest.bytes;
    const auto end = counted_.stacks.begin() + static_cast<std::ptrdiff_t>(oldest.stack_count);
    std::for_each(counted_.stacks.begin(), end, [this](const aggregate::CountedStack& stack) {
        counted_.sample_count -= stack.count;
        counted_.by_walk_end.at(stack.walk_end) -= stack.count;
    });
    counted_.stacks.erase(counted_.stacks.begin(), end);
}

void TopWindow::add(aggregate::CountedStacks interval, std::chrono::nanoseconds duration) {
    Interval added{.stack_count = interval.stacks.size(), .duration = duration};
    for (aggregate::CountedStack& stack : interval.stacks) {
        stack.times = {};
        added.bytes += bytes_of(stack);
        counted_.sample_count += stack.count;
        counted_.by_walk_end.at(stack.walk_end) += stack.count;
    }
    std::ranges::move(interval.stacks, std::back_inserter(counted_.stacks));
    intervals_.push_back(added);
    duration_ += duration;
    bytes_ += added.bytes;
    // An interval is never exactly as long as it should be: half of one more is none too many.
    const auto too_long = [&] { return duration_ > length_ + duration / 2; };
    while (intervals_.size() > 1 && (too_long() || bytes_ > max_bytes_)) remove_oldest();
}

}  // namespace bobbin::daemon
