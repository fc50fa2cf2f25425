// SPDX-License-Identifier: Apache-2.0
#include "report/diff_counts.h"

#include <algorithm>

namespace bobbin::report {
namespace {

// With fewer spans than blocks some blocks would be empty.
constexpr std::uint64_t kMinSpans = kTimeBlocks;

std::uint64_t count_spans(const symbolize::NamedProfile& profile) {
    std::uint64_t spans = 0;
    if (profile.time_bucket.count() == 0) return spans;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        if (!stack.times.empty()) {
            spans = std::max(spans, std::uint64_t{stack.times.back().bucket} + 1);
        }
    }
    return spans;
}

BlockCounts blocks_of(const aggregate::TimeCounts& times, std::uint64_t spans) {
    BlockCounts counts{};
    if (spans == 0) return counts;
    for (const aggregate::TimeCount& time : times) {
        counts[time.bucket * kTimeBlocks / spans] += time.count;
    }
    return counts;
}

void add(SideCounts::Function& function, std::uint64_t count, const BlockCounts& blocks) {
    function.count += count;
    for (std::size_t i = 0; i < kTimeBlocks; ++i) function.by_block[i] += blocks[i];
}

}  // namespace

DiffCounter::Numbers DiffCounter::number_lines(const symbolize::NamedProfile& profile,
                                               const symbolize::Location& location) {
    Numbers numbers;
    for (const symbolize::Line& line : location.lines) {
        std::string name = names_.function_of(profile, location, line);
        std::string module = names_.module_of(profile, location);
        std::string key = name;
        key.append(1, '\0').append(module);
        const auto [found, is_new] = number_by_key_.try_emplace(
            std::move(key), static_cast<std::uint32_t>(functions_.size()));
        if (is_new) functions_.emplace_back(std::move(name), std::move(module));
        numbers.push_back(found->second);
    }
    return numbers;
}

DiffCounter::Numbers DiffCounter::functions_of(const symbolize::NamedStack& stack,
                                               const std::vector<Numbers>& by_location) const {
    Numbers numbers;
    for (const std::uint32_t location : stack.locations) {
        const Numbers& lines = by_location[location];
        if (on_ == DiffOn::kSelf && !lines.empty()) return {lines.front()};
        numbers.insert(numbers.end(), lines.begin(), lines.end());
    }
    std::ranges::sort(numbers);
    const auto [first, last] = std::ranges::unique(numbers);
    numbers.erase(first, last);
    return numbers;
}

SideCounts DiffCounter::count(const symbolize::NamedProfile& profile) {
    std::vector<Numbers> by_location;
    by_location.reserve(profile.locations.size());
    for (const symbolize::Location& location : profile.locations) {
        by_location.push_back(number_lines(profile, location));
    }
    const std::uint64_t spans = count_spans(profile);
    SideCounts side;
    side.has_blocks = spans >= kMinSpans;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        const BlockCounts blocks = side.has_blocks ? blocks_of(stack.times, spans) : BlockCounts{};
        add(side.all, stack.count, blocks);
        for (const std::uint32_t number : functions_of(stack, by_location)) {
            add(side.at(number), stack.count, blocks);
        }
    }
    return side;
}

double variance_factor(const SideCounts::Function& function, const SideCounts& side) {
    if (!side.has_blocks) return 1;
    double all = 0;
    double own = 0;
    for (std::size_t i = 0; i < kTimeBlocks; ++i) {
        all += side.all.by_block[i];
        own += function.by_block[i];
    }
    if (own == 0 || own >= all) return 1;
    const double share = own / all;
    double seen = 0;
    double last = 0;
    for (std::size_t i = 0; i < kTimeBlocks; ++i) {
        const double off = function.by_block[i] - share * side.all.by_block[i];
        if (i > 0) seen += (off - last) * (off - last) / 2;
        last = off;
    }
    const double expected = all * share * (1 - share) * (kTimeBlocks - 1) / kTimeBlocks;
    return std::max(1.0, seen / expected);
}

}  // namespace bobbin::report
