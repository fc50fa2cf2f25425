// SPDX-License-Identifier: Apache-2.0
#include "profile/thread_timelines.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace bobbin::profile {
namespace {

using std::chrono::nanoseconds;

// 146 years; sums of two stay below what nanoseconds can hold.
constexpr std::uint64_t kLatestNs = std::uint64_t{1} << 62;
// What one sample lasts where its value is no time.
constexpr std::uint64_t kUnknownLengthNs = 1'000'000;

nanoseconds to_nanoseconds(std::uint64_t ns) {
    return nanoseconds{static_cast<std::int64_t>(std::min(ns, kLatestNs))};
}

std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b) {
    return b != 0 && a > kLatestNs / b ? kLatestNs : a * b;
}

// The part of `whole` that `part` of `of` have, without overflow for parts below 2^32.
std::uint64_t share(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
    return whole / of * part + whole % of * part / of;
}

std::uint64_t sum_of(const aggregate::TimeCounts& times) {
    std::uint64_t sum = 0;
    for (const aggregate::TimeCount& time : times) sum += time.count;
    return sum;
}

class Layout {
public:
    explicit Layout(const symbolize::NamedProfile& profile) : profile_(profile) {}

    Timelines lay_out() {
        result_.has_times = profile_.time_bucket.count() > 0 && !profile_.stacks.empty() &&
                            std::ranges::all_of(profile_.stacks, [](const auto& stack) {
                                return sum_of(stack.times) != 0;
                            });
        for (const symbolize::NamedStack& stack : profile_.stacks) add(stack);
        for (std::size_t i = 0; i < result_.threads.size(); ++i) {
            result_.has_times ? spread(i) : lay_behind_each_other(result_.threads[i]);
        }
        std::ranges::stable_sort(result_.threads, std::ranges::greater{}, &ThreadTimeline::value);
        return std::move(result_);
    }

private:
    // Where neither is known, processes are told apart by their names.
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::string>;

    void add(const symbolize::NamedStack& stack) {
        const symbolize::SampleLabels& labels = stack.labels;
        const bool is_known = labels.pid != 0 || labels.tid != 0;
        const auto [found, is_new] = index_by_key_.try_emplace(
            Key{labels.pid, labels.tid, is_known ? std::string() : labels.comm},
            result_.threads.size());
        if (is_new) {
            result_.threads.push_back(thread_of(labels));
            buckets_.emplace_back();
        }
        ThreadTimeline& thread = result_.threads[found->second];
        thread.value += stack.value;
        if (result_.has_times) {
            add_times(stack, thread, buckets_[found->second]);
        } else if (stack.count != 0 || stack.value != 0) {
            thread.samples.push_back({&stack, stack.count, stack.value, {}, {}});
        }
    }

    ThreadTimeline thread_of(const symbolize::SampleLabels& labels) {
        ThreadTimeline thread{.pid = labels.pid, .tid = labels.tid};
        if (thread.pid == 0) thread.pid = thread.tid != 0 ? thread.tid : next_invented_pid_++;
        if (thread.tid == 0) thread.tid = thread.pid;
        thread.process = labels.comm.empty() ? "[unknown]" : labels.comm;
        thread.thread = labels.thread.empty() ? thread.process : labels.thread;
        return thread;
    }

    // `buckets` says where its parts lie until all of the thread are known.
    static void add_times(const symbolize::NamedStack& stack, ThreadTimeline& thread,
                          std::vector<std::uint32_t>& buckets) {
        const std::uint64_t all = sum_of(stack.times);
        std::uint64_t before = 0;
        for (const aggregate::TimeCount& time : stack.times) {
            const std::uint64_t after = before + time.count;
            TimedSamples samples{&stack, 0, 0, {}, {}};
            samples.count = share(stack.count, after, all) - share(stack.count, before, all);
            samples.value = share(stack.value, after, all) - share(stack.value, before, all);
            before = after;
            if (samples.count == 0 && samples.value == 0) continue;
            thread.samples.push_back(samples);
            buckets.push_back(time.bucket);
        }
    }

    void spread(std::size_t thread_index) {
        std::vector<TimedSamples>& samples = result_.threads[thread_index].samples;
        const std::vector<std::uint32_t>& buckets = buckets_[thread_index];
        std::vector<std::size_t> order(samples.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return buckets[i]; });

        std::vector<TimedSamples> sorted;
        sorted.reserve(samples.size());
        for (std::size_t first = 0; first < order.size();) {
            std::size_t end = first;
            while (end < order.size() && buckets[order[end]] == buckets[order[first]]) {
                sorted.push_back(samples[order[end++]]);
            }
            fill_span(buckets[order[first]], std::span(sorted).last(end - first));
            first = end;
        }
        samples = std::move(sorted);
    }

    void fill_span(std::uint32_t bucket, std::span<TimedSamples> samples) const {
        const auto length = static_cast<std::uint64_t>(profile_.time_bucket.count());
        const std::uint64_t start = bounded_product(length, bucket);
        double all = 0;
        for (const TimedSamples& part : samples) all += weight_of(part);
        double before = 0;
        for (TimedSamples& part : samples) {
            part.start = at(start, length, before / all);
            before += weight_of(part);
            part.end = at(start, length, before / all);
        }
    }
    static double weight_of(const TimedSamples& samples) {
        return static_cast<double>(std::max<std::uint64_t>(1, samples.count));
    }
    static nanoseconds at(std::uint64_t start, std::uint64_t length, double part) {
        const double length_part = static_cast<double>(std::min(length, kLatestNs)) * part;
        return to_nanoseconds(start + static_cast<std::uint64_t>(length_part));
    }

    void lay_behind_each_other(ThreadTimeline& thread) const {
        std::uint64_t now = 0;
        for (TimedSamples& samples : thread.samples) {
            samples.start = to_nanoseconds(now);
            now = std::min(now + length_of(samples), kLatestNs);
            samples.end = to_nanoseconds(now);
        }
    }
    [[nodiscard]] std::uint64_t length_of(const TimedSamples& samples) const {
        if (profile_.value_type.unit == "nanoseconds") return std::min(samples.value, kLatestNs);
        return bounded_product(std::max<std::uint64_t>(1, samples.count), kUnknownLengthNs);
    }

    const symbolize::NamedProfile& profile_;
    Timelines result_;
    std::map<Key, std::size_t> index_by_key_;
    std::vector<std::vector<std::uint32_t>> buckets_;  // of each thread's samples
    std::uint32_t next_invented_pid_ = kFirstInventedPid;
};

}  // namespace

Timelines lay_out_threads(const symbolize::NamedProfile& profile) {
    return Layout(profile).lay_out();
}

}  // namespace bobbin::profile
