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
constexpr double kWholeShareWithoutExecEvents = 0.95;
// Of the CPU time in user mode: the rest is ld.so, exec, exit, and what a shared CPU was kept from.
constexpr double kExactShareOfTime = 0.85;

struct ShortLives {
    std::string load;
    std::string number;
    std::string milliseconds;
    std::string program;
};

double user_seconds_of(const std::string& output) {
    const std::size_t at = output.rfind("user_s=");
    return at == std::string::npos ? 0 : std::stod(output.substr(at + 7));
}

class Children : public testing::TestWithParam<ShortLives> {
protected:
    [[nodiscard]] std::vector<std::string> command() const {
        const auto program = copy_fixture(GetParam().program, directory_ / "churn");
        return {fixture_path("processes_children"), GetParam().load, GetParam().number, program,
                GetParam().milliseconds};
    }

    // Of their samples with a user stack, and of their CPU time in user mode.
    static void expect_shares(const RecordedRun& run, double whole_share, double exact_share) {
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
        EXPECT_GE(whole.share_right(), whole_share) << whole.examples();
        const Verdict exact = judge(stacks, in_chain, is_whole);
        const double ticks = user_seconds_of(run.process.standard_output) * kFrequencyHz;
        EXPECT_GE(ticks, 300) << run.process.standard_output;
        EXPECT_GE(static_cast<double>(exact.right), exact_share * ticks) << exact.examples();
        testing::Test::RecordProperty("whole", std::to_string(whole.share_right()));
        testing::Test::RecordProperty("of_time",
                                      std::to_string(static_cast<double>(exact.right) / ticks));
    }

    TemporaryDirectory directory_;
};

TEST_P(Children, ComeBackWholeFromTheFirstSampleOn) {
    expect_shares(record_processes(command()), kWholeShare, kExactShareOfTime);
}

// Nothing holds a file from its exec on: what is gone before the opener has a CPU is lost.
TEST_P(Children, ComeBackWholeToWhoMayDoOnlyWhatIsNeeded) {
    expect_shares(record_processes_with_few_capabilities(command()), kWholeShareWithoutExecEvents,
                  kExactShareOfTime);
}

INSTANTIATE_TEST_SUITE_P(Of, Children,
                         testing::Values(ShortLives{"churn", "30x", "60", "processes_chain.red"},
                                         ShortLives{"blink", "80x", "15", "processes_chain.red"},
                                         ShortLives{"blink", "80x", "15",
                                                    "processes_chain.red.static"}),
                         [](const auto& lives) {
                             return lives.param.load +
                                    (lives.param.program.ends_with(".static") ? "_static" : "");
                         });

}  // namespace
}  // namespace bobbin::test
