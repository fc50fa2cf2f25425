// SPDX-License-Identifier: Apache-2.0
#include "daemon/counts_by_rate.h"

#include <iterator>
#include <numeric>

namespace bobbin::daemon {

CountsByRate::CountsByRate(std::uint64_t max_bytes) : max_bytes_(max_bytes) {
    rates_.push_back({.counts = aggregate::StackCounts(aggregate::hash_of, max_bytes)});
}

void CountsByRate::begin_at(std::chrono::nanoseconds start) {
    start_ = start;
    for (Rate& rate : rates_) rate.counts.begin_at(start);
}

void CountsByRate::begin_rate(std::chrono::nanoseconds since, std::chrono::nanoseconds period) {
    Rate& latest = rates_.back();
    if (latest.period == std::chrono::nanoseconds{0}) latest.period = period;
    if (latest.period == period) return;
    Rate& rate = rates_.emplace_back(
        Rate{since, period, aggregate::StackCounts(aggregate::hash_of, max_bytes_)});
    rate.counts.begin_at(start_);
}

CountsByRate::Rate& CountsByRate::rate_at(std::chrono::nanoseconds time) {
    auto rate = std::prev(rates_.end());
    while (rate != rates_.begin() && time < rate->since) --rate;
    return *rate;
}

void CountsByRate::add(const aggregate::RawSample& sample) {
    rate_at(std::chrono::nanoseconds{sample.header->time_ns}).counts.add(sample);
}

std::vector<RateCounts> CountsByRate::take(std::chrono::nanoseconds next_start) {
    start_ = next_start;
    std::vector<RateCounts> taken;
    for (auto rate = rates_.begin(); rate != rates_.end();) {
        const auto next = std::next(rate);
        const bool is_latest = next == rates_.end();
        if (is_latest || rate->counts.sample_count() != 0) {
            taken.push_back({rate->period, rate->counts.take(next_start)});
        }
        if (!is_latest && next->since <= counted_until_) rates_.erase(rate);
        rate = next;
    }
    return taken;
}

std::vector<const aggregate::CountedStacks*> CountsByRate::counted() const {
    std::vector<const aggregate::CountedStacks*> all;
    for (const Rate& rate : rates_) all.push_back(&rate.counts.counted());
    return all;
}

std::uint64_t CountsByRate::bytes() const {
    return std::accumulate(
        rates_.begin(), rates_.end(), std::uint64_t{0},
        [](std::uint64_t sum, const Rate& rate) { return sum + rate.counts.bytes(); });
}

}  // namespace bobbin::daemon
