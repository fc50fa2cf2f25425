// SPDX-License-Identifier: Apache-2.0
#include "store/cut_to_range.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace bobbin::store {
namespace {

using std::chrono::nanoseconds;

struct Spans {
    std::int64_t first = 0;
    std::int64_t end = 0;
};

// Of the first span that begins at `time` or later.
std::int64_t first_span_from(nanoseconds offset, nanoseconds span) {
    if (offset.count() <= 0) return 0;
    return (offset + span - nanoseconds{1}) / span;
}

// A part of a stack's samples has that part of its value.
void cut(const Spans& spans, symbolize::NamedStack& stack) {
    std::uint64_t count = 0;
    std::erase_if(stack.times, [&](aggregate::TimeCount& time) {
        if (time.bucket < spans.first || time.bucket >= spans.end) return true;
        time.bucket -= static_cast<std::uint32_t>(spans.first);
        count += time.count;
        return false;
    });
    if (count == stack.count) return;
    stack.value = stack.count == 0 ? 0 : stack.value / stack.count * count;
    stack.count = count;
}

}  // namespace

void cut_to_range(const Range& range, symbolize::NamedProfile& profile) {
    const nanoseconds span = profile.time_bucket;
    const nanoseconds end = std::min<nanoseconds>(range.end - profile.started, profile.duration);
    const bool is_whole = range.begin <= profile.started && end == profile.duration;
    if (is_whole || span.count() <= 0) return;
    const Spans spans{.first = first_span_from(range.begin - profile.started, span),
                      .end = first_span_from(end, span)};
    for (symbolize::NamedStack& stack : profile.stacks) cut(spans, stack);
    std::erase_if(profile.stacks, [](const auto& stack) { return stack.count == 0; });
    profile.started += std::chrono::duration_cast<Time::duration>(spans.first * span);
    profile.duration = std::max<nanoseconds>(end - spans.first * span, nanoseconds{0});
    profile.sample_count = 0;
    profile.by_walk_end = {};
    for (const symbolize::NamedStack& stack : profile.stacks) {
        profile.sample_count += stack.count;
        profile.by_walk_end.at(stack.walk_end) += stack.count;
    }
}

}  // namespace bobbin::store
