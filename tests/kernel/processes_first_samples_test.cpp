// SPDX-License-Identifier: Apache-2.0
// The first samples of processes that live for milliseconds. tests/bench/first_samples measures the
// same at length; here the floors are such that only a defect goes below them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/processes_stacks.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

constexpr double kFrequencyHz = 499;
constexpr double kWholeShare = 0.99;
// Of the CPU time in user mode: the rest is ld.so, exec, exit, and what a shared CPU was kept from.
constexpr double kExactShareOfTime = 0.85;

struct ShortLives {
    std::string load;
    std::string number;
    std::string milliseconds;
};

double user_seconds_of(const std::string& output) {
    const std::size_t at = output.rfind("user_s=");
    return at == std::string::npos ? 0 : std::stod(output.substr(at + 7));
}

class Children : public testing::TestWithParam<ShortLives> {};

TEST_P(Children, ComeBackWholeFromTheFirstSampleOn) {
    const TemporaryDirectory directory;
    const auto program = copy_fixture("processes_chain.red", directory / "churn");
    const RecordedRun run = record_processes({fixture_path("processes_children"), GetParam().load,
                                              GetParam().number, program, GetParam().milliseconds});
    std::vector<Stack> stacks = run.profile.stacks;
    std::erase_if(stacks, [&](const Stack& stack) {
        return !stack.label("comm").starts_with(GetParam().load) || stack.user_frames().empty();
    });
    const auto every = [](const Stack&) { return true; };
    const auto in_chain = [](const Stack& stack) { return has_colour(stack, "red"); };
    const auto is_whole = [](const Stack& stack) {
        return is_whole_chain(stack, "red", below_main());
    };
    const Verdict whole = judge(stacks, every, is_whole);
    EXPECT_GE(whole.share_right(), kWholeShare) << whole.examples();
    const Verdict exact = judge(stacks, in_chain, is_whole);
    const double ticks = user_seconds_of(run.process.standard_output) * kFrequencyHz;
    EXPECT_GE(ticks, 300) << run.process.standard_output;
    EXPECT_GE(static_cast<double>(exact.right), kExactShareOfTime * ticks) << exact.examples();
}

INSTANTIATE_TEST_SUITE_P(Of, Children,
                         testing::Values(ShortLives{"churn", "30x", "60"},
                                         ShortLives{"blink", "80x", "15"}),
                         [](const auto& lives) { return lives.param.load; });

}  // namespace
}  // namespace bobbin::test
