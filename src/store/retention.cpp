// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include <algorithm>
#include <ranges>

namespace bobbin::store {

Retention::Retention(const std::vector<Range>& segments, Time clock, std::chrono::seconds kept)
    : kept_(kept), patience_(std::min<std::chrono::seconds>(kept, std::chrono::days{1})) {
    for (const Range& segment : segments) {
        if (!stretches_.empty() && segment.begin <= stretches_.back().end + patience_) {
            stretches_.back().end = std::max(stretches_.back().end, segment.end);
        } else {
            stretches_.push_back({.begin = segment.begin, .end = segment.end, .aged_until = {}});
        }
    }
    judge(clock);
}

void Retention::judge(Time clock) {
    Time believed{};
    for (Stretch& stretch : std::views::reverse(stretches_)) {
        stretch.is_ahead = stretch.begin > clock + patience_;
        stretch.aged_until = std::max(stretch.end, believed);
        const bool is_long = stretch.end - stretch.begin >= patience_;
        if (is_long && !stretch.is_ahead) believed = std::max(believed, stretch.end);
    }
    const auto last = std::ranges::find_if(stretches_.rbegin(), stretches_.rend(),
                                           [](const Stretch& one) { return !one.is_ahead; });
    if (last != stretches_.rend()) covers_all_ = last->end - stretches_.front().begin >= kept_;
}

// One begins between the beginnings of its own stretch and of the next.
const Retention::Stretch* Retention::stretch_of(const Range& segment) const {
    const auto next = std::ranges::upper_bound(stretches_, segment.begin, {}, &Stretch::begin);
    return next == stretches_.begin() ? nullptr : &*std::prev(next);
}

bool Retention::is_too_old(const Range& segment) const {
    const Stretch* const stretch = stretch_of(segment);
    if (stretch == nullptr) return false;
    if (stretch->is_ahead) return covers_all_;
    return segment.end + kept_ <= stretch->aged_until;
}

bool Retention::is_ahead_of_clock(const Range& segment) const {
    const Stretch* const stretch = stretch_of(segment);
    return stretch != nullptr && stretch->is_ahead;
}

}  // namespace bobbin::store
