// SPDX-License-Identifier: Apache-2.0
// Without a target, everything that runs is sampled, whoever started it and when.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>

#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

bool is_in_the_chain(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return !frames.empty() && chain_link_of(frames.front()) != 0;
}

bool is_exact(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return matches(frames, chain_from(chain_link_of(frames.front())) + below_main());
}

void expect_exact_chain(const ProfileText& profile, const std::string& fixture) {
    const Verdict verdict = judge(profile.stacks_of(comm_of(fixture)), is_in_the_chain, is_exact);
    EXPECT_GE(verdict.judged, 300U) << fixture;
    EXPECT_GE(verdict.share_right(), 0.99) << verdict.examples();
}

// The two work for a while longer than the recorder needs to start; when both are done, it is told
// to end.
TEST(SystemWideRecording, SeesProgramsThatRanBeforeIt) {
    const std::string first = "known_chain.gcc.pie";
    const std::string second = "known_chain.clang.static";
    ChildProcess first_process({fixture_path(first), "4"});
    ChildProcess second_process({fixture_path(second), "4"});
    ASSERT_TRUE(first_process.wait_for_output("running"));
    ASSERT_TRUE(second_process.wait_for_output("running"));

    const TemporaryDirectory directory;
    const std::filesystem::path output = directory / "profile.pb.gz";
    ChildProcess bobbin({program_path(), "record", "-F", "499", "-o", output});
    EXPECT_EQ(first_process.wait().exit_status, 0);
    EXPECT_EQ(second_process.wait().exit_status, 0);
    bobbin.send_signal(SIGINT);
    const FinishedProcess finished = bobbin.wait();
    ASSERT_EQ(finished.exit_status, 0) << finished.standard_error;

    const ProfileText profile = read_pprof(output);
    expect_every_tick_accounted_for(profile);
    expect_exact_chain(profile, first);
    expect_exact_chain(profile, second);
}

// The shell starts them one after the other; neither existed when the recording began.
TEST(RecordingOfACommand, FollowsItsChildren) {
    const std::string first = "known_chain.gcc.no_pie";
    const std::string second = "known_chain.clang.static_pie";
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499"},
               {"sh", "-c", fixture_path(first) + " 2; " + fixture_path(second) + " 2"});
    expect_exact_chain(run.profile, first);
    expect_exact_chain(run.profile, second);
}

}  // namespace
}  // namespace bobbin::test
