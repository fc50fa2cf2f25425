// SPDX-License-Identifier: Apache-2.0
#include "profile/view_tree.h"

#include <algorithm>
#include <utility>

namespace bobbin::profile {
namespace {

void add_times(aggregate::TimeCounts& times, const aggregate::TimeCounts& others) {
    aggregate::TimeCounts both;
    both.reserve(times.size() + others.size());
    std::merge(times.begin(), times.end(), others.begin(), others.end(), std::back_inserter(both),
               [](const auto& a, const auto& b) { return a.bucket < b.bucket; });
    times.clear();
    for (const aggregate::TimeCount& time : both) {
        if (!times.empty() && times.back().bucket == time.bucket) {
            times.back().count += time.count;
        } else {
            times.push_back(time);
        }
    }
}

// The share of a side's samples that pass through each node.
std::vector<double> shares_of(const ViewNodes& nodes, const ViewSamples& samples) {
    std::vector<double> shares(nodes.size());
    double all = 0;
    for (const ViewSample& sample : samples) {
        shares[sample.node] += static_cast<double>(sample.count);
        all += static_cast<double>(sample.count);
    }
    for (auto node = static_cast<std::uint32_t>(nodes.size()); node-- > 0;) {
        const std::uint32_t parent = nodes.parent_of(node);
        if (parent != ViewNodes::kNoParent) shares[parent] += shares[node];
    }
    if (all > 0)
        std::ranges::transform(shares, shares.begin(), [=](double sum) { return sum / all; });
    return shares;
}

}  // namespace

std::uint32_t ViewFrames::number_of(const Key& key) {
    const auto [found, is_new] =
        number_by_key_.try_emplace(key, static_cast<std::uint32_t>(frames_.size()));
    if (is_new) frames_.push_back({key, {}});
    return found->second;
}

std::vector<std::uint32_t> ViewFrames::words() const {
    std::vector<std::uint32_t> words;
    for (const Frame& frame : frames_) {
        const auto& [name, module, file, flags] = frame.key;
        words.insert(words.end(), {name, module, file, hottest_line(frame), flags});
    }
    return words;
}

std::uint32_t ViewFrames::hottest_line(const Frame& frame) {
    std::pair<std::uint64_t, std::uint32_t> hottest;
    for (const auto& [line, count] : frame.count_by_line) {
        if (line != 0 && count > hottest.first) hottest = {count, line};
    }
    return hottest.second;
}

std::uint32_t ViewNodes::child_of(std::uint32_t parent, std::uint32_t frame) {
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    const auto [found, is_new] =
        number_by_place_.try_emplace(std::uint64_t{parent} << 32 | frame, number);
    if (is_new) nodes_.push_back({parent, frame});
    return found->second;
}

std::vector<std::uint32_t> ViewNodes::words() const {
    std::vector<std::uint32_t> words;
    words.reserve(2 * nodes_.size());
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        const std::uint32_t parent = nodes_[node].parent;
        words.push_back(parent == kNoParent ? 0 : node - parent);
        words.push_back(nodes_[node].frame);
    }
    return words;
}

void merge_samples(ViewSamples& samples) {
    const auto place = [](const ViewSample& sample) {
        return std::pair(sample.node, sample.owner);
    };
    std::ranges::stable_sort(samples, {}, place);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (kept != 0 && place(samples[kept - 1]) == place(samples[i])) {
            samples[kept - 1].count += samples[i].count;
            add_times(samples[kept - 1].times, samples[i].times);
        } else {
            if (kept != i) samples[kept] = std::move(samples[i]);
            ++kept;
        }
    }
    samples.resize(kept);
}

SmallNodes find_small_nodes(const ViewNodes& nodes, const std::vector<ViewSamples>& sides,
                            double least_share) {
    std::vector<double> largest(nodes.size());
    for (const ViewSamples& samples : sides) {
        const std::vector<double> shares = shares_of(nodes, samples);
        for (std::size_t i = 0; i < shares.size(); ++i)
            largest[i] = std::max(largest[i], shares[i]);
    }
    SmallNodes small{.place_of = std::vector<std::uint32_t>(nodes.size()),
                     .count_at = std::vector<std::uint32_t>(nodes.size()),
                     .is_kept = std::vector<bool>(nodes.size())};
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
        const std::uint32_t parent = nodes.parent_of(node);
        small.is_kept[node] = parent == ViewNodes::kNoParent || largest[node] >= least_share;
        small.place_of[node] = small.is_kept[node] ? node : small.place_of[parent];
        if (small.is_kept[node]) continue;
        ++small.count_at[small.place_of[node]];
        ++small.count;
    }
    return small;
}

}  // namespace bobbin::profile
