// SPDX-License-Identifier: Apache-2.0
#include "store/cpu_series.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

double CpuSeries::in_steps(nanoseconds time) const {
    return static_cast<double>(time.count()) / static_cast<double>(step_.count());
}

CpuSeries::Nanoseconds& CpuSeries::steps_of(const std::string& owner) {
    const auto found = by_owner_.find(owner);
    if (found != by_owner_.end()) return found->second;
    if (by_owner_.size() >= kMaxOwners) fold_the_lesser_half();
    return by_owner_.emplace(owner, Nanoseconds(step_count_)).first->second;
}

void CpuSeries::fold_the_lesser_half() {
    std::vector<std::pair<double, std::string>> sums;
    for (const auto& [name, steps] : by_owner_) {
        if (!name.empty()) sums.emplace_back(sum_of(steps), name);
    }
    std::ranges::sort(sums);
    sums.resize(sums.size() / 2);
    Nanoseconds& rest = by_owner_.try_emplace(std::string(), step_count_).first->second;
    for (const auto& [sum, name] : sums) {
        const auto lesser = by_owner_.find(name);
        std::ranges::transform(rest, lesser->second, rest.begin(), std::plus{});
        by_owner_.erase(lesser);
    }
}

void CpuSeries::add(const symbolize::NamedProfile& profile) {
    const nanoseconds start = profile.started - range_.begin;
    const nanoseconds span = profile.time_bucket;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        Nanoseconds& steps = steps_of(owner_of(stack.labels));
        const auto value = static_cast<double>(stack.value);
        if (stack.times.empty()) {
            spread(value, in_steps(start), in_steps(start + profile.duration), steps);
        }
        for (const aggregate::TimeCount& time : stack.times) {
            const nanoseconds begin = start + span * time.bucket;
            spread(value * time.count / static_cast<double>(stack.count), in_steps(begin),
                   in_steps(begin + span), steps);
        }
    }
}

bool CpuSeries::can_add(const CpuSums& sums) const {
    return sums.step <= step_ && sums.begin >= range_.begin && sums.end() <= range_.end;
}

void CpuSeries::add(const CpuSums& sums) {
    const nanoseconds start = sums.begin - range_.begin;
    for (const CpuSums::Owner& owner :
         by_ == StoreReader::By::kComm ? sums.processes : sums.units) {
        Nanoseconds& steps = steps_of(by_ == StoreReader::By::kAll ? std::string() : owner.name);
        for (std::size_t i = 0; i < owner.cpu_us.size(); ++i) {
            if (owner.cpu_us[i] == 0) continue;
            const nanoseconds begin = start + static_cast<int>(i) * nanoseconds{sums.step};
            spread(static_cast<double>(owner.cpu_us[i]) * 1e3, in_steps(begin),
                   in_steps(begin + sums.step), steps);
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
