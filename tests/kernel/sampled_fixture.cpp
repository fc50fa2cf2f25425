// SPDX-License-Identifier: Apache-2.0
#include "kernel/sampled_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace bobbin::test {
namespace {

constexpr std::array<std::string_view, abi::WALK_END_COUNT> kWalkEndTexts{
#define X(enumerator, name, text) text,
    BOBBIN_WALK_ENDS(X)
#undef X
};

// Of the last recording: samples before the tables of a new file were there. How many depends on
// what else the machine does (3 % of a run beside two compilers), and the run counts them itself.
std::uint64_t not_ready_count = 0;

std::string line_that_begins(const std::string& text, std::string_view title) {
    std::size_t begin = text.starts_with(title) ? 0 : text.find("\n" + std::string(title));
    if (begin == std::string::npos) return {};
    if (begin != 0) ++begin;
    return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

RecordedRun record_fixture(const std::string& fixture, const std::string& cpu_seconds) {
    const TemporaryDirectory directory;
    RecordedRun run = record(directory, {"-F", "499"}, {fixture_path(fixture), cpu_seconds});
    EXPECT_EQ(run.process.standard_error.find("BOBBIN_TICK_PROGRAM"), std::string::npos)
        << "another program than the one asked for:\n"
        << run.process.standard_error;
    auto counts = accounting_of(run.profile);
    not_ready_count = counts["stack_file_not_ready"];
    // A copy holds one stack: cgo's callers on the goroutine's stack are not in it.
    if (fixture.starts_with("go_cgo"))
        not_ready_count += std::min(counts["resumed"], counts["stack_stack_unreadable"]);
    EXPECT_LE(not_ready_count, run.profile.sample_count() / 5);
    return run;
}

ProfileText sample_fixture(const std::string& fixture, const std::string& cpu_seconds) {
    return record_fixture(fixture, cpu_seconds).profile;
}

bool every_stack(const Stack&) { return true; }

StackRule leaf_is_in(std::vector<std::string> modules) {
    return [modules = std::move(modules)](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return !frames.empty() &&
               std::find(modules.begin(), modules.end(), frames.front().module) != modules.end();
    };
}

void remove_maps_of(const ProfileText& profile) {
    std::set<std::string> pids;
    for (const Stack& stack : profile.stacks) pids.insert(stack.label("pid"));
    for (const std::string& pid : pids) {
        const std::string map = "/tmp/perf-" + pid + ".map";
        std::filesystem::remove_all(map);
        std::filesystem::remove_all(map + ".other");
    }
}

StackRule leaf_is(std::string function) {
    return [function = std::move(function)](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return !frames.empty() && is_function(frames.front(), function);
    };
}

StackRule is_exactly(ExpectedStack expected) {
    return [expected = std::move(expected)](const Stack& stack) {
        return matches(stack.user_frames(), expected);
    };
}

StackRule any_of_these(std::vector<ExpectedStack> allowed) {
    return [allowed = std::move(allowed)](const Stack& stack) {
        return std::any_of(allowed.begin(), allowed.end(), [&](const ExpectedStack& expected) {
            return matches(stack.user_frames(), expected);
        });
    };
}

bool contains(const Stack& stack, const std::string& function) {
    return std::any_of(stack.frames.begin(), stack.frames.end(),
                       [&](const Frame& frame) { return is_function(frame, function); });
}

StackRule is_the_chain_above(const ExpectedStack& outer) {
    return [outer](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return matches(frames, chain_from(chain_link_of(frames.front())) + outer);
    };
}

bool cut_leaf_frames_in(std::vector<Frame>& frames, const std::string& module) {
    const auto first_other = std::find_if(frames.begin(), frames.end(),
                                          [&](const Frame& f) { return f.module != module; });
    const bool found = first_other != frames.begin();
    frames.erase(frames.begin(), first_other);
    return found;
}

void expect_exact(const std::string& what, const std::vector<Stack>& stacks,
                  const StackRule& applies, const StackRule& is_exact, std::uint64_t fewest) {
    Verdict verdict = judge(stacks, applies, is_exact);
    verdict.judged -= std::min(not_ready_count, verdict.judged - verdict.right);
    testing::Test::RecordProperty(what, fmt::format("{}/{}", verdict.right, verdict.judged));
    if (!verdict.wrong.empty())
        testing::Test::RecordProperty(what + ", not so", verdict.examples());
    EXPECT_GE(verdict.judged, fewest) << what;
    EXPECT_GE(verdict.share_right(), kRequiredShare) << what << ": " << verdict.examples();
}

void expect_whole_stacks(const ProfileText& profile, const std::string& fixture,
                         const StackRule& applies, const StackRule& is_exact) {
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(fixture));
    expect_exact("exact", stacks, applies, is_exact);
    expect_exact("bottom", stacks, every_stack, reaches_the_bottom, 0);
}

double share_ended(const RecordedRun& run, abi::walk_end end) {
    // "Stacks   88.1 % complete · 11.8 % stack memory could not be read · <0.1 % ..."
    constexpr std::string_view kBetween = " · ";
    const std::string line = line_that_begins(run.process.standard_error, "Stacks ");
    EXPECT_FALSE(line.empty()) << run.process.standard_error;
    const std::string part = " % " + std::string(kWalkEndTexts.at(end));
    const std::size_t at = line.find(part);
    if (at == std::string::npos) return 0;
    std::size_t begin = line.rfind(kBetween, at);
    begin = begin == std::string::npos ? 0 : begin + kBetween.size();
    std::string number = line.substr(begin, at - begin);
    std::erase_if(number, [](char c) { return c == '<' || c == '>'; });
    return std::stod(number) / 100;
}

void expect_ended(const RecordedRun& run, const std::string& function, abi::walk_end end,
                  std::uint64_t fewest) {
    const std::uint64_t samples = judge(run.profile.stacks, leaf_is(function), every_stack).judged;
    EXPECT_GE(samples, fewest) << function;
    const double share =
        static_cast<double>(samples) / static_cast<double>(run.profile.sample_count());
    constexpr double kRounding = 0.001;  // the summary has one digit behind the point
    EXPECT_GE(share_ended(run, end), share * kRequiredShare - kRounding)
        << function << "\n"
        << run.process.standard_error;
    EXPECT_LE(share_ended(run, end), share + 1 - kRequiredShare) << function << "\n"
                                                                 << run.process.standard_error;
}

}  // namespace bobbin::test
