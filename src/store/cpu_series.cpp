// SPDX-License-Identifier: Apache-2.0
#include "store/cpu_series.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bobbin::store {
namespace {

using std::chrono::nanoseconds;

std::size_t count_steps(const Range& range, std::chrono::seconds step) {
    const nanoseconds length = range.end - range.begin;
    const auto count = (length + step - nanoseconds{1}) / nanoseconds{step};
    return std::min(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)),
                    CpuSeries::kMaxSteps);
}

double sum_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

CpuSeries::CpuSeries(const Range& range, std::chrono::seconds step, StoreReader::By by)
    : range_(range), step_(step), by_(by), step_count_(count_steps(range, step)) {}

const std::string& CpuSeries::owner_of(const symbolize::SampleLabels& labels) const {
    static const std::string kNobody;
    switch (by_) {
        case StoreReader::By::kUnit:
            return labels.unit;
        case StoreReader::By::kComm:
            return labels.comm;
        case StoreReader::By::kAll:
            break;
    }
    return kNobody;
}

// From `begin` to `end`, counted in steps, by the share that lies in each.
void CpuSeries::spread(double cpu_ns, double begin, double end, Nanoseconds& steps) {
    const double length = end - begin;
    const double last = std::min(end, static_cast<double>(steps.size()));
    for (double at = std::max(begin, 0.0); at < last;) {
        const double next = std::min(std::floor(at) + 1, last);
        const double share = length > 0 ? (next - at) / length : 1;
        steps[static_cast<std::size_t>(at)] += cpu_ns * share;
        at = next;
    }
}

void CpuSeries::add(const symbolize::NamedProfile& profile) {
    const auto in_steps = [this](nanoseconds time) {
        return static_cast<double>(time.count()) / static_cast<double>(step_.count());
    };
    const double start = in_steps(profile.started - range_.begin);
    const double span = in_steps(profile.time_bucket);
    for (const symbolize::NamedStack& stack : profile.stacks) {
        Nanoseconds& steps = by_owner_[owner_of(stack.labels)];
        steps.resize(step_count_);
        const auto value = static_cast<double>(stack.value);
        if (stack.times.empty()) {
            spread(value, start, start + in_steps(profile.duration), steps);
        }
        for (const aggregate::TimeCount& time : stack.times) {
            const double begin = start + span * time.bucket;
            spread(value * time.count / static_cast<double>(stack.count), begin, begin + span,
                   steps);
        }
    }
}

std::vector<StoreReader::Series> CpuSeries::take(std::size_t max_series) const {
    std::vector<StoreReader::Series> all;
    all.reserve(by_owner_.size());
    for (const auto& [name, steps] : by_owner_) all.push_back({name, steps});
    std::ranges::sort(all, [](const auto& a, const auto& b) {
        const double more = sum_of(a.cores) - sum_of(b.cores);
        return more != 0 ? more > 0 : a.name < b.name;
    });
    StoreReader::Series rest{.name = {}, .cores = Nanoseconds(step_count_)};
    std::vector<StoreReader::Series> shown;
    for (StoreReader::Series& series : all) {
        const bool is_shown =
            shown.size() < max_series && (!series.name.empty() || by_ == StoreReader::By::kAll);
        if (is_shown) {
            shown.push_back(std::move(series));
            continue;
        }
        for (std::size_t i = 0; i < step_count_; ++i) rest.cores[i] += series.cores[i];
    }
    if (sum_of(rest.cores) > 0) shown.push_back(std::move(rest));
    for (StoreReader::Series& series : shown) {
        for (double& cores : series.cores) cores /= static_cast<double>(step_.count());
    }
    return shown;
}

}  // namespace bobbin::store
