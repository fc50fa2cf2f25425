// SPDX-License-Identifier: Apache-2.0
#include "report/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "report/diff_counts.h"

namespace bobbin::report {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

// Stacks "main f" with so many samples of each f.
symbolize::NamedProfile profile_of(const Counts& counts) {
    symbolize::NamedProfile profile;
    profile.mappings.emplace_back().file = "/usr/bin/app";
    Counts with_main = counts;
    with_main.emplace_back("main", 0);
    for (const auto& [name, count] : with_main) {
        const auto number = static_cast<std::uint32_t>(profile.functions.size());
        profile.functions.push_back({name, name, ""});
        symbolize::Location location;
        location.lines = {{number, 0}};
        location.is_named = true;
        profile.locations.push_back(location);
    }
    for (std::uint32_t i = 0; i < counts.size(); ++i) {
        symbolize::NamedStack stack;
        stack.locations = {i, static_cast<std::uint32_t>(counts.size())};
        stack.count = counts[i].second;
        profile.stacks.push_back(stack);
    }
    return profile;
}

ProfileDiff diff(const symbolize::NamedProfile& base, const symbolize::NamedProfile& profile,
                 const DiffOptions& options = {}) {
    auto result = diff_profiles(base, profile, options);
    EXPECT_TRUE(result) << result.error().message();
    return std::move(*result);
}

FunctionDiff function(const ProfileDiff& diff, const std::string& name) {
    for (const FunctionDiff& candidate : diff.functions) {
        if (candidate.name == name) return candidate;
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
}

// By hand: 300 of 1,000 and 360 of 1,000; pooled 0.33; z = 0.06 / sqrt(0.33 * 0.67 * 0.002)
// = 0.06 / 0.0210285 = 2.85327. The two-sided p of a normal table: 2 (1 - Phi(2.85327)) = 0.00433.
// Both functions have it (0.70 to 0.64), so that Holm's first p is twice that and the second no
// less.
TEST(DiffProfiles, TestsSharesAsABookDoes) {
    const ProfileDiff result =
        diff(profile_of({{"f", 300}, {"g", 700}}), profile_of({{"f", 360}, {"g", 640}}));
    const FunctionDiff f = function(result, "f");
    EXPECT_DOUBLE_EQ(f.base_amount, 0.3);
    EXPECT_DOUBLE_EQ(f.amount, 0.36);
    EXPECT_NEAR(f.relative_change(), 0.2, 1e-12);
    EXPECT_NEAR(f.p_value, 2 * 0.00433, 2e-5);
    EXPECT_DOUBLE_EQ(function(result, "g").p_value, f.p_value);
    EXPECT_TRUE(f.is_significant);
}

// 100 samples in 10 s and 150 in 10 s, of a period of 10 ms: 0.1 and 0.15 cores. Exposures are
// 1,000; pooled rate 0.125; z = 0.05 / sqrt(0.125 * 0.002) = 3.16228, p = 0.00157.
TEST(DiffProfiles, TestsRatesAsABookDoes) {
    auto base = profile_of({{"f", 100}});
    auto fresh = profile_of({{"f", 150}});
    for (auto* profile : {&base, &fresh}) {
        profile->period = std::chrono::milliseconds(10);
        profile->duration = std::chrono::seconds(10);
    }
    const ProfileDiff result = diff(base, fresh, {.normalize = Normalize::kAbsolute});
    const FunctionDiff f = function(result, "f");
    EXPECT_DOUBLE_EQ(f.base_amount, 0.1);
    EXPECT_DOUBLE_EQ(f.amount, 0.15);
    EXPECT_NEAR(f.p_value, 0.00157, 1e-5);
    EXPECT_FALSE(diff_profiles(profile_of({{"f", 1}}), fresh, {.normalize = Normalize::kAbsolute}));
}

TEST(DiffProfiles, FindsAPlantedTenthAndTripsTheGate) {
    const ProfileDiff result = diff(profile_of({{"hot", 6000}, {"other", 14000}}),
                                    profile_of({{"hot", 6600}, {"other", 14000}}));
    const std::vector<FunctionDiff> above = functions_above(result, 0.05);
    ASSERT_THAT(above, SizeIs(1));
    EXPECT_EQ(above.front().name, "hot");
    EXPECT_THAT(functions_above(result, 0.10), IsEmpty());  // 6600/20600 is 6.8 % more than 0.3
}

TEST(DiffProfiles, SaysNothingOfTooFewSamples) {
    const ProfileDiff result =
        diff(profile_of({{"f", 1}, {"g", 19}}), profile_of({{"f", 6}, {"g", 14}}));
    EXPECT_FALSE(function(result, "f").has_enough_samples);
    EXPECT_THAT(functions_above(result, 0.05), IsEmpty());
}

TEST(DiffProfiles, CountsWhatWasNotThereBefore) {
    const ProfileDiff result =
        diff(profile_of({{"f", 1000}}), profile_of({{"f", 1000}, {"added", 500}}));
    const FunctionDiff added = function(result, "added");
    EXPECT_EQ(added.base_count, 0U);
    EXPECT_TRUE(std::isinf(added.relative_change()));
    EXPECT_THAT(functions_above(result, 0.05), SizeIs(1));
}

TEST(DiffProfiles, CountsCallersWhereTotalsAreCompared) {
    const auto base = profile_of({{"f", 300}, {"g", 700}});
    EXPECT_EQ(function(diff(base, base, {.on = DiffOn::kTotal}), "main").count, 1000U);
    EXPECT_THAT(diff(base, base).functions, SizeIs(2));  // main has no samples of its own
}

TEST(DiffProfiles, LeavesSmallFunctionsOut) {
    const auto base = profile_of({{"f", 9950}, {"small", 50}});
    const ProfileDiff result = diff(base, base);
    EXPECT_THAT(result.functions, SizeIs(1));
    EXPECT_EQ(result.small_count, 1U);
    EXPECT_FALSE(diff_profiles(base, profile_of({}), {}));
}

// Samples of one program, drawn again and again: at a level of 0.01 for all functions together, 200
// pairs trip the gate twice on average; 12 or more would be one in a million (Poisson). Fixed seed.
TEST(DiffProfiles, IsQuietOnTwoRunsOfOneProgram) {
    std::mt19937 random(1);
    std::discrete_distribution<std::size_t> draw({30, 20, 15, 10, 8, 6, 4, 3, 2, 1, 1});
    const auto run = [&] {
        Counts counts;
        for (int i = 0; i < 11; ++i) counts.emplace_back("f" + std::to_string(i), 0);
        for (int i = 0; i < 3000; ++i) ++counts[draw(random)].second;
        return profile_of(counts);
    };
    int trips = 0;
    for (int pair = 0; pair < 200; ++pair) {
        if (!functions_above(diff(run(), run()), 0).empty()) ++trips;
    }
    EXPECT_LT(trips, 12);
}

// Blocks of 100 samples in all, of which f has 50: in odd blocks 40, in even 60. Successive
// differences are all 20: 31 * 200 over 3200 * 0.5 * 0.5 * 31 / 32, so 6200 / 775 = 8.
TEST(VarianceFactor, GrowsWithBursts) {
    SideCounts side;
    side.has_blocks = true;
    SideCounts::Function f;
    for (std::size_t i = 0; i < kTimeBlocks; ++i) {
        side.all.by_block[i] = 100;
        f.by_block[i] = i % 2 == 0 ? 60 : 40;
    }
    EXPECT_DOUBLE_EQ(variance_factor(f, side), 8);
    f.by_block.fill(50);
    EXPECT_DOUBLE_EQ(variance_factor(f, side), 1);  // never less
    side.has_blocks = false;
    EXPECT_DOUBLE_EQ(variance_factor(f, side), 1);
}

// The first half f alone, the second half none: both runs go through it.
TEST(VarianceFactor, IgnoresSlowPhases) {
    SideCounts side;
    side.has_blocks = true;
    SideCounts::Function f;
    for (std::size_t i = 0; i < kTimeBlocks; ++i) {
        side.all.by_block[i] = 100;
        f.by_block[i] = i < kTimeBlocks / 2 ? 100 : 0;
    }
    // One step of 100 remains: 100^2 / 2 over 775.
    EXPECT_NEAR(variance_factor(f, side), 5000.0 / 775, 1e-9);
}

}  // namespace
}  // namespace bobbin::report
