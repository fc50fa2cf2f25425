// SPDX-License-Identifier: Apache-2.0
#include "report/diff.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "profile/same_names.h"
#include "report/diff_counts.h"
#include "report/weight.h"

namespace bobbin::report {
namespace {

constexpr double kMinExpectedSamples = 5;

// What counts are divided by, to be compared: samples of a profile, or what makes cores of a count.
struct Exposure {
    double base = 0;
    double fresh = 0;
};

// Samples that one busy core gives.
Result<double> samples_a_core(const symbolize::NamedProfile& profile, const char* which) {
    if (profile.period.count() <= 0 || profile.duration.count() <= 0) {
        return fail("{} does not say its sampling period and duration, so cores are not known",
                    which);
    }
    return std::chrono::duration<double>(profile.duration) /
           std::chrono::duration<double>(profile.period);
}

Result<Exposure> exposure_of(const symbolize::NamedProfile& base,
                             const symbolize::NamedProfile& profile, const DiffOptions& options,
                             const ProfileDiff& diff) {
    if (options.normalize == Normalize::kShare) {
        return Exposure{static_cast<double>(diff.base_sample_count),
                        static_cast<double>(diff.sample_count)};
    }
    BOBBIN_TRY(const double base_exposure, samples_a_core(base, "the base"));
    BOBBIN_TRY(const double exposure, samples_a_core(profile, "the new profile"));
    return Exposure{base_exposure, exposure};
}

// pooled = (x1 + x2) / (n1 + n2); z = (x2/n2 - x1/n1) / sqrt(v (f1/n1 + f2/n2)), v being
// pooled (1 - pooled) for shares and pooled for rates, f the variance factors; p = erfc(|z|/sqrt
// 2).
void test(FunctionDiff& function, const Exposure& exposure, const Exposure& factor,
          Normalize normalize) {
    const double pooled = static_cast<double>(function.base_count + function.count) /
                          (exposure.base + exposure.fresh);
    const bool is_share = normalize == Normalize::kShare;
    const double variance = is_share ? pooled * (1 - pooled) : pooled;
    const double least = std::min(exposure.base, exposure.fresh);
    const double rarer = is_share ? std::min(pooled, 1 - pooled) : pooled;
    function.has_enough_samples = rarer * least >= kMinExpectedSamples;
    if (!function.has_enough_samples) return;
    const double error =
        std::sqrt(variance * (factor.base / exposure.base + factor.fresh / exposure.fresh));
    function.p_value = std::erfc(std::abs(function.change()) / error / std::numbers::sqrt2);
}

// Holm: the k-th smallest of m is multiplied by m - k + 1, and none is less than one before it.
void correct(std::vector<FunctionDiff>& functions) {
    std::ranges::sort(functions, {}, &FunctionDiff::p_value);
    double least = 0;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const auto hypotheses = static_cast<double>(functions.size() - i);
        least = std::max(least, std::min(1.0, functions[i].p_value * hypotheses));
        functions[i].p_value = least;
        functions[i].is_significant = functions[i].has_enough_samples && least < kSignificanceLevel;
    }
}

}  // namespace

double FunctionDiff::relative_change() const {
    if (base_amount > 0) return change() / base_amount;
    return amount > 0 ? std::numeric_limits<double>::infinity() : 0;
}

Result<ProfileDiff> diff_profiles(const symbolize::NamedProfile& base,
                                  const symbolize::NamedProfile& profile,
                                  const DiffOptions& options) {
    const profile::SameNames names(profile, base);
    DiffCounter counter(names, options.on);
    SideCounts fresh_side = counter.count(profile);
    SideCounts base_side = counter.count(base);
    ProfileDiff diff{.options = options,
                     .base_sample_count = base_side.all.count,
                     .sample_count = fresh_side.all.count};
    if (diff.base_sample_count == 0) return fail("the base has no samples");
    if (diff.sample_count == 0) return fail("the new profile has no samples");
    BOBBIN_TRY(const Exposure exposure, exposure_of(base, profile, options, diff));
    for (std::uint32_t i = 0; i < counter.functions().size(); ++i) {
        const SideCounts::Function& before = base_side.at(i);
        const SideCounts::Function& after = fresh_side.at(i);
        if (before.count == 0 && after.count == 0) continue;
        if (std::max(share_of(before.count, diff.base_sample_count),
                     share_of(after.count, diff.sample_count)) < options.min_share) {
            ++diff.small_count;
            continue;
        }
        FunctionDiff& function = diff.functions.emplace_back();
        std::tie(function.name, function.module) = counter.functions()[i];
        function.base_count = before.count;
        function.count = after.count;
        function.base_amount = static_cast<double>(before.count) / exposure.base;
        function.amount = static_cast<double>(after.count) / exposure.fresh;
        test(function, exposure,
             {variance_factor(before, base_side), variance_factor(after, fresh_side)},
             options.normalize);
    }
    correct(diff.functions);
    std::ranges::stable_sort(diff.functions, std::greater<>(), [](const FunctionDiff& function) {
        return std::abs(function.change());
    });
    return diff;
}

std::vector<FunctionDiff> functions_above(const ProfileDiff& diff, double limit) {
    std::vector<FunctionDiff> above;
    std::ranges::copy_if(diff.functions, std::back_inserter(above), [&](const FunctionDiff& f) {
        return f.is_significant && f.relative_change() > limit;
    });
    return above;
}

}  // namespace bobbin::report
