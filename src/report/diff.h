// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::report {

enum class DiffOn { kSelf, kTotal };
// Shares of all samples, or cores: CPU time a second.
enum class Normalize { kShare, kAbsolute };

struct DiffOptions {
    DiffOn on = DiffOn::kSelf;
    Normalize normalize = Normalize::kShare;
    double min_share = 0.01;  // of either profile; smaller functions are not compared
};

// One function in both profiles, matched by profile/same_names.h.
struct FunctionDiff {
    std::string name;
    std::string module;
    std::uint64_t base_count = 0;  // samples
    std::uint64_t count = 0;
    double base_amount = 0;  // share or cores
    double amount = 0;
    bool has_enough_samples = false;  // for a statement about chance
    double p_value = 1;               // of a difference this large by chance; see diff_profiles()
    bool is_significant = false;

    [[nodiscard]] double change() const { return amount - base_amount; }
    // Of the base's amount; infinite for what the base does not have.
    [[nodiscard]] double relative_change() const;
};

struct ProfileDiff {
    DiffOptions options;
    std::uint64_t base_sample_count = 0;
    std::uint64_t sample_count = 0;
    std::vector<FunctionDiff> functions;  // largest change first
    std::size_t small_count = 0;          // functions not compared
};

inline constexpr double kSignificanceLevel = 0.01;

// What got slower and faster from `base` to `profile`. An error: an empty profile or, for cores,
// one that does not say its period and duration.
//
// Shares are compared by the two-proportion z-test with pooled variance, cores by its counterpart
// for Poisson rates. `p_value` is two-sided and corrected for the number of functions compared
// (Holm 1979: p times the number of hypotheses not yet rejected); significant is below 0.01. Below
// 5 expected samples on either side the normal approximation does not hold, and nothing is said.
//
// What is assumed: samples are independent. They are not where work comes in bursts, so the
// variance is multiplied by what the spans of time show, never by less than 1: with x_b the
// function's and n_b all samples of each of 32 blocks of time and e_b = x_b - n_b * share, by the
// mean of (e_b+1 - e_b)^2 / 2 over the binomial variance of a block (von Neumann's successive
// differences: slow phases, which both recordings go through, do not count). Without times by 1.
// What differs from one run to the next, layout of memory or other load, is not seen in one pair of
// profiles.
Result<ProfileDiff> diff_profiles(const symbolize::NamedProfile& base,
                                  const symbolize::NamedProfile& profile,
                                  const DiffOptions& options);

// Those that grew by more than `limit` of the base's amount, and not by chance.
std::vector<FunctionDiff> functions_above(const ProfileDiff& diff, double limit);

}  // namespace bobbin::report
