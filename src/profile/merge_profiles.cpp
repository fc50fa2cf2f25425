// SPDX-License-Identifier: Apache-2.0
#include "profile/merge_profiles.h"

#include <algorithm>
#include <utility>

#include "profile/table_keys.h"

namespace bobbin::profile {
namespace {

// Numbers that count up, as these do, become ones that do not: 2^64 over the golden ratio (Knuth,
// volume 3, 6.4).
std::uint64_t mix(std::uint64_t hash, std::uint64_t number) {
    hash = (hash ^ number) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

// Rounds down, below zero too.
std::int32_t span_at(std::chrono::nanoseconds offset, std::chrono::nanoseconds length) {
    const auto span = static_cast<std::int32_t>(offset / length);
    return (offset % length).count() < 0 ? span - 1 : span;
}

std::chrono::nanoseconds since(std::chrono::system_clock::time_point base,
                               std::chrono::system_clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - base);
}

}  // namespace

void ProfileMerger::add_head(const symbolize::NamedProfile& profile) {
    const auto end =
        profile.started +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(profile.duration);
    if (std::exchange(is_empty_, false)) {
        profile_.count_type = profile.count_type;
        profile_.value_type = profile.value_type;
        profile_.period = profile.period;
        profile_.started = profile.started;
        base_ = profile.started;
        end_ = end;
    } else {
        if (profile.period != profile_.period) profile_.period = std::chrono::nanoseconds{0};
        profile_.started = std::min(profile_.started, profile.started);
        end_ = std::max(end_, end);
    }
    profile_.sample_count += profile.sample_count;
    for (std::size_t i = 0; i < profile.by_walk_end.size(); ++i) {
        profile_.by_walk_end.at(i) += profile.by_walk_end.at(i);
    }
    for (const std::string& comment : profile.comments) {
        if (comments_.insert(comment).second) profile_.comments.push_back(comment);
    }
}

// Spans are counted in 32 bits and kept few, whatever the profiles say of their time.
void ProfileMerger::fit_spans(const symbolize::NamedProfile& profile) {
    if (profile.time_bucket.count() <= 0) {
        has_times_ = has_times_ && profile.stacks.empty();
        return;
    }
    std::chrono::nanoseconds length = std::max(profile_.time_bucket, profile.time_bucket);
    const std::chrono::nanoseconds whole = since(profile_.started, end_);
    while (whole / length >= aggregate::TimeSpans::kMaxBuckets) length *= 2;
    if (length != profile_.time_bucket) lengthen_spans(length);
}

void ProfileMerger::lengthen_spans(std::chrono::nanoseconds length) {
    const std::chrono::nanoseconds old = std::exchange(profile_.time_bucket, length);
    for (Stack& stack : stacks_) {
        for (Time& time : stack.times) time.span = span_at(time.span * old, length);
        compact(stack.times);
    }
}

std::uint32_t ProfileMerger::place_mapping(const symbolize::NamedProfile& profile,
                                           std::uint32_t index, Places& places) {
    std::uint32_t& place = places.mappings[index];
    if (place != kNone) return place;
    const symbolize::Mapping& from = profile.mappings[index];
    place = place_of(mappings_, key_of(from), profile_.mappings, [&] { return from; });
    symbolize::Mapping& mapping = profile_.mappings[place];
    mapping.has_functions |= from.has_functions;
    mapping.has_filenames |= from.has_filenames;
    mapping.has_line_numbers |= from.has_line_numbers;
    mapping.has_inline_frames |= from.has_inline_frames;
    return place;
}

std::uint32_t ProfileMerger::place_function(const symbolize::NamedProfile& profile,
                                            std::uint32_t index, Places& places) {
    std::uint32_t& place = places.functions[index];
    if (place == kNone) {
        const symbolize::Function& from = profile.functions[index];
        place = place_of(functions_, key_of(from), profile_.functions, [&] { return from; });
    }
    return place;
}

std::uint32_t ProfileMerger::place_location(const symbolize::NamedProfile& profile,
                                            std::uint32_t index, Places& places) {
    std::uint32_t& place = places.locations[index];
    if (place != kNone) return place;
    symbolize::Location location = profile.locations[index];
    location.mapping = place_mapping(profile, location.mapping, places);
    for (symbolize::Line& line : location.lines) {
        line.function = place_function(profile, line.function, places);
    }
    place = place_of(locations_, key_of(location), profile_.locations, [&] { return location; });
    return place;
}

std::uint32_t ProfileMerger::place_labels(const symbolize::SampleLabels& labels) {
    return place_of(labels_by_text_, key_of(labels), labels_, [&] { return labels; });
}

ProfileMerger::Stack& ProfileMerger::stack_like(const Stack& stack) {
    std::uint64_t hash = mix(stack.labels, static_cast<std::uint64_t>(stack.walk_end));
    for (const std::uint32_t location : stack.locations) hash = mix(hash, location);
    const auto [first, end] = stacks_by_hash_.equal_range(hash);
    for (auto found = first; found != end; ++found) {
        Stack& known = stacks_[found->second];
        const bool is_equal = known.labels == stack.labels && known.walk_end == stack.walk_end &&
                              known.by_frame_pointer == stack.by_frame_pointer &&
                              known.locations == stack.locations;
        if (is_equal) return known;
    }
    stacks_by_hash_.emplace(hash, static_cast<std::uint32_t>(stacks_.size()));
    Stack& fresh = stacks_.emplace_back();
    fresh.locations = stack.locations;
    fresh.labels = stack.labels;
    fresh.by_frame_pointer = stack.by_frame_pointer;
    fresh.walk_end = stack.walk_end;
    return fresh;
}

void ProfileMerger::add_stack(const symbolize::NamedProfile& profile,
                              const symbolize::NamedStack& stack, Places& places) {
    Stack like;
    like.locations.resize(stack.locations.size());
    // Callers first, so that tables are in the order in which a tree from the roots has them.
    for (std::size_t i = stack.locations.size(); i-- > 0;) {
        like.locations[i] = place_location(profile, stack.locations[i], places);
    }
    like.labels = place_labels(stack.labels);
    like.by_frame_pointer = stack.by_frame_pointer;
    like.walk_end = stack.walk_end;
    Stack& ours = stack_like(like);
    ours.count += stack.count;
    ours.value += stack.value;
    if (!has_times_) return;
    const std::chrono::nanoseconds start = since(base_, profile.started);
    for (const aggregate::TimeCount& time : stack.times) {
        const std::int32_t span =
            span_at(start + time.bucket * profile.time_bucket, profile_.time_bucket);
        if (!ours.times.empty() && ours.times.back().span == span) {
            ours.times.back().count += time.count;
        } else {
            ours.times.push_back({span, time.count});
        }
    }
}

void ProfileMerger::add(const symbolize::NamedProfile& profile) {
    add_head(profile);
    fit_spans(profile);
    Places places{.mappings = std::vector<std::uint32_t>(profile.mappings.size(), kNone),
                  .functions = std::vector<std::uint32_t>(profile.functions.size(), kNone),
                  .locations = std::vector<std::uint32_t>(profile.locations.size(), kNone)};
    for (const symbolize::NamedStack& stack : profile.stacks) add_stack(profile, stack, places);
    if (stacks_.size() > max_stacks_) fold_rarest();
}

// Half of them, so that it is done seldom. What becomes equal is one stack.
void ProfileMerger::fold_rarest() {
    std::ranges::sort(stacks_, std::ranges::greater{}, &Stack::count);
    std::vector<Stack> all = std::exchange(stacks_, {});
    stacks_by_hash_.clear();
    const std::size_t first_rare = max_stacks_ / 2;
    for (std::size_t i = 0; i < all.size(); ++i) put_back(std::move(all[i]), i >= first_rare);
    for (Stack& stack : stacks_) compact(stack.times);
    folded_count_ += all.size() - std::min(all.size(), first_rare);
}

void ProfileMerger::put_back(Stack stack, bool is_shortened) {
    if (is_shortened) {
        stack.locations.resize(std::min<std::size_t>(1, stack.locations.size()));
        stack.by_frame_pointer.clear();
        symbolize::SampleLabels shared = labels_[stack.labels];
        shared.pid = shared.tid = shared.cpu = 0;
        shared.thread.clear();
        stack.labels = place_labels(shared);
    }
    Stack& ours = stack_like(stack);
    ours.count += stack.count;
    ours.value += stack.value;
    ours.times.insert(ours.times.end(), stack.times.begin(), stack.times.end());
}

void ProfileMerger::compact(std::vector<Time>& times) {
    std::ranges::sort(times, {}, &Time::span);
    std::size_t kept = 0;
    for (const Time& time : times) {
        if (kept != 0 && times[kept - 1].span == time.span) {
            times[kept - 1].count += time.count;
        } else {
            times[kept++] = time;
        }
    }
    times.resize(kept);
}

symbolize::NamedStack ProfileMerger::named(Stack& stack, std::int32_t first_span) const {
    symbolize::NamedStack named{.locations = std::move(stack.locations),
                                .labels = labels_[stack.labels],
                                .by_frame_pointer = std::move(stack.by_frame_pointer),
                                .walk_end = stack.walk_end,
                                .count = stack.count,
                                .value = stack.value};
    if (!has_times_) return named;
    compact(stack.times);
    named.times.reserve(stack.times.size());
    for (const Time& time : stack.times) {
        named.times.push_back({static_cast<std::uint32_t>(time.span - first_span), time.count});
    }
    return named;
}

symbolize::NamedProfile ProfileMerger::take() {
    profile_.duration = since(profile_.started, end_);
    if (!has_times_) profile_.time_bucket = std::chrono::nanoseconds{0};
    const std::int32_t first_span =
        profile_.time_bucket.count() == 0
            ? 0
            : span_at(since(base_, profile_.started), profile_.time_bucket);
    profile_.stacks.reserve(stacks_.size());
    for (Stack& stack : stacks_) {
        profile_.stacks.push_back(named(stack, first_span));
        stack.times = {};  // long recordings have more of these than of all else
    }
    symbolize::NamedProfile taken = std::move(profile_);
    *this = ProfileMerger(max_stacks_);
    return taken;
}

}  // namespace bobbin::profile
