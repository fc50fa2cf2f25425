// SPDX-License-Identifier: Apache-2.0
// Are the counts true, not only the stacks?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/expected_stacks.h"
#include "support/fixture_test_name.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

std::uint64_t samples_below(const std::vector<Stack>& stacks, std::string_view function) {
    std::uint64_t count = 0;
    for (const Stack& stack : stacks) {
        const bool is_below = std::any_of(stack.frames.begin(), stack.frames.end(),
                                          [&](const Frame& f) { return is_function(f, function); });
        if (is_below) count += stack.count;
    }
    return count;
}

class TwoToOne : public testing::TestWithParam<std::string> {};

// Turns last 2 to 10 ms, so a turn's share is wrong by at most one sample at each of its ends: over
// 400 turns that is 1 %, against the 10 % allowed.
TEST_P(TwoToOne, IsMeasuredWithinTenPercent) {
    const TemporaryDirectory directory;
    const RecordedRun run = record(directory, {"-F", "999"}, {fixture_path(GetParam()), "4"});
    const std::vector<Stack> stacks = run.profile.stacks_of(comm_of(GetParam()));
    const auto two = static_cast<double>(samples_below(stacks, "spend_two_parts"));
    const auto one = static_cast<double>(samples_below(stacks, "spend_one_part"));

    ASSERT_GE(two + one, 2000);
    EXPECT_GE(two / one, 1.8);
    EXPECT_LE(two / one, 2.2);
}

INSTANTIATE_TEST_SUITE_P(Of, TwoToOne,
                         testing::Values("two_to_one.gcc.pie", "two_to_one.clang.pie"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test
