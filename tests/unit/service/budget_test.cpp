// SPDX-License-Identifier: Apache-2.0
#include "service/budget.h"

#include <gtest/gtest.h>

namespace bobbin::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kMiB = 1ULL << 20;

// A service whose sampling takes as much of a CPU for each Hz as it is told, and whose names take a
// burst now and then.
class Machine {
public:
    Machine(const Budget::Limits& limits, std::uint32_t hz) : budget(limits, hz) {}

    Budget::Advice live_for(seconds duration, std::chrono::nanoseconds cpu_time_of_a_tick,
                            bool is_free = false) {
        Budget::Advice advice;
        for (seconds second{0}; second < duration; ++second) {
            usage.at += seconds{1};
            usage.sampling_cpu_time += cpu_time_of_a_tick * budget.hz();
            advice = budget.observe(usage, is_free);
            scarce_count += advice.memory == Budget::Memory::kScarce ? 1 : 0;
        }
        return advice;
    }

    Budget budget;
    Usage usage{.at = std::chrono::steady_clock::time_point{seconds{1000}},
                .memory_bytes = 10 * kMiB};
    int scarce_count = 0;
};

// 100 ticks of 100 us: 1 % of a CPU.
TEST(Budget, LeavesTheRateAloneWithinIt) {
    Machine machine({.cpu_percent = 1.5}, 100);
    EXPECT_EQ(machine.live_for(seconds{120}, std::chrono::microseconds{100}).hz, 100U);
    EXPECT_NEAR(machine.budget.cpu_percent(), 1.0, 0.001);
    EXPECT_EQ(machine.budget.throttle_count(), 0U);
}

// 4 % where 1 % is allowed: the credit of 0.6 s ends after 20 s. Then a quarter of the rate.
TEST(Budget, LowersTheRateInProportionOnceItsCreditIsUsedUp) {
    Machine machine({.cpu_percent = 1}, 100);
    EXPECT_EQ(machine.live_for(seconds{19}, std::chrono::microseconds{400}).hz, 100U);
    EXPECT_EQ(machine.live_for(seconds{4}, std::chrono::microseconds{400}).hz, 25U);
    EXPECT_EQ(machine.budget.throttle_count(), 1U);
    EXPECT_EQ(machine.live_for(seconds{20}, std::chrono::microseconds{400}).hz, 25U);
}

TEST(Budget, SamplesOnceASecondAtLeast) {
    Machine machine({.cpu_percent = 0.01}, 99);
    EXPECT_EQ(machine.live_for(seconds{60}, milliseconds{1}).hz, 1U);
}

TEST(Budget, RaisesTheRateAgainInStepsWhenThereIsRoom) {
    Machine machine({.cpu_percent = 1}, 100);
    machine.live_for(seconds{25}, std::chrono::microseconds{400});
    ASSERT_EQ(machine.budget.hz(), 25U);
    const auto advice =
        machine.live_for(Budget::kPatience + seconds{10}, std::chrono::microseconds{50});
    EXPECT_EQ(advice.hz, 31U);  // a quarter more
    EXPECT_EQ(machine.live_for(seconds{1000}, std::chrono::microseconds{50}).hz, 100U);
}

TEST(Budget, DoesNotRaiseWhatWouldBeOverItAtOnce) {
    Machine machine({.cpu_percent = 1}, 100);
    machine.live_for(seconds{25}, std::chrono::microseconds{400});
    EXPECT_EQ(machine.live_for(seconds{600}, std::chrono::microseconds{380}).hz, 25U);
    EXPECT_EQ(machine.budget.throttle_count(), 1U);
}

// 3 s of names once, in ten minutes: 0.5 %.
TEST(Budget, SpreadsTheCostOfNames) {
    Machine machine({.cpu_percent = 1}, 100);
    machine.live_for(seconds{60}, {});
    machine.usage.naming_cpu_time += seconds{3};
    EXPECT_EQ(machine.live_for(seconds{1}, {}).hz, 100U);
    EXPECT_NEAR(machine.budget.cpu_percent(), 0.5, 0.001);
    machine.usage.naming_cpu_time += seconds{9};
    EXPECT_EQ(machine.live_for(seconds{1}, {}).hz, 50U);
    machine.live_for(Budget::kNamingWindow + seconds{60}, {});
    EXPECT_NEAR(machine.budget.cpu_percent(), 0, 0.001);
}

TEST(Budget, DoesNotHoldABoostAgainstTheRate) {
    Machine machine({.cpu_percent = 1}, 100);
    EXPECT_EQ(machine.live_for(seconds{60}, milliseconds{1}, true).hz, 100U);
}

TEST(Budget, AsksForMemoryBackBeforeItSamplesLess) {
    Machine machine({.memory_bytes = 64 * kMiB}, 20);
    machine.usage.memory_bytes = 65 * kMiB;
    EXPECT_EQ(machine.live_for(seconds{1}, {}).memory, Budget::Memory::kScarce);
    EXPECT_EQ(machine.live_for(seconds{9}, {}).hz, 20U);
    EXPECT_EQ(machine.scarce_count, 1);
    EXPECT_EQ(machine.live_for(seconds{1}, {}).hz, 10U);
    EXPECT_EQ(machine.scarce_count, 2);
    machine.usage.memory_bytes = 60 * kMiB;
    EXPECT_EQ(machine.live_for(seconds{600}, {}).hz, 20U);
    EXPECT_EQ(machine.scarce_count, 2);
}

TEST(Budget, PausesAndTriesAgainWhereThatIsAskedFor) {
    Machine machine({.cpu_percent = 1, .pauses = true}, 100);
    EXPECT_EQ(machine.live_for(seconds{25}, std::chrono::microseconds{400}).hz, 0U);
    EXPECT_EQ(machine.live_for(Budget::kPause - seconds{10}, {}).hz, 0U);
    EXPECT_EQ(machine.live_for(seconds{10}, {}).hz, 100U);
    EXPECT_EQ(machine.budget.throttle_count(), 1U);
}

}  // namespace
}  // namespace bobbin::service
