// SPDX-License-Identifier: Apache-2.0
// `bobbin daemon` from its start to its end: what it stores, and what it does when it is told to
// end, to pause, to save, or is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "kernel/service_daemon.h"
#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

using ::testing::HasSubstr;

bool is_in_the_chain(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return !frames.empty() && chain_link_of(frames.front()) != 0;
}

bool is_exact(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return matches(frames, chain_from(chain_link_of(frames.front())) + below_main());
}

// The value of all samples of a program, in seconds.
double cpu_seconds_of(const std::vector<ProfileText>& segments, const std::string& comm) {
    std::uint64_t nanoseconds = 0;
    for (const ProfileText& segment : segments) {
        for (const Stack& stack : segment.stacks_of(comm)) nanoseconds += stack.value;
    }
    return static_cast<double>(nanoseconds) / 1e9;
}

TEST(Service, StoresWholeStacksAndAccountsForEveryTick) {
    const TemporaryDirectory directory;
    const std::string fixture = "known_chain.gcc.pie";
    ServiceDaemon daemon(directory);
    ASSERT_TRUE(daemon.wait_until_it_samples());
    EXPECT_EQ(run_process({fixture_path(fixture), "7"}).exit_status, 0);
    daemon.send_signal(SIGTERM);
    const FinishedProcess finished = daemon.wait();
    EXPECT_EQ(finished.exit_status, 0) << finished.standard_output;

    const std::vector<ProfileText> segments = read_segments(directory);
    EXPECT_GE(segments.size(), 3U) << finished.standard_output;
    expect_accounts_agree(segments);
    ProfileText all;
    for (const ProfileText& segment : segments) {
        all.stacks.insert(all.stacks.end(), segment.stacks.begin(), segment.stacks.end());
    }
    const Verdict verdict = judge(all.stacks_of(comm_of(fixture)), is_in_the_chain, is_exact);
    EXPECT_GE(verdict.judged, 150U);
    EXPECT_GE(verdict.share_right(), 0.99) << verdict.examples();
}

TEST(Service, KeepsWhatWasStoredWhenItIsKilled) {
    const TemporaryDirectory directory;
    {
        ServiceDaemon daemon(directory);
        ASSERT_TRUE(daemon.wait_for_segments(2));
        daemon.send_signal(SIGKILL);
        EXPECT_EQ(daemon.wait().exit_status, 128 + SIGKILL);
    }
    const auto before = segment_files(directory);
    ServiceDaemon again(directory);
    ASSERT_TRUE(again.wait_for_segments(before.size() + 1));
    again.send_signal(SIGTERM);
    EXPECT_EQ(again.wait().exit_status, 0);
    const auto after = segment_files(directory);
    EXPECT_TRUE(std::ranges::includes(after, before));
    expect_accounts_agree(read_segments(directory));
}

TEST(Service, TakesAnotherConfigurationOverOrLeavesEverythingAsItWas) {
    const TemporaryDirectory directory;
    ServiceDaemon daemon(directory);
    ASSERT_TRUE(daemon.wait_until_it_samples());
    ServiceDaemon::write_config(directory, "[profile]\nfrequenzy = 49\n");
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_log("frequency"));  // the nearest name
    EXPECT_TRUE(daemon.wait_for_log("the configuration stays as it was"));
    ServiceDaemon::write_config(directory,
                                "[profile]\nfrequency = 49\n[budget]\ncpu_percent = 100\n");
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_log("the configuration was read again"));
    EXPECT_TRUE(daemon.wait_for_log("sampling at 49 Hz"));
    // Other frames need another recording.
    ServiceDaemon::write_config(
        directory, "[profile]\nfrequency = 59\nscope = \"user\"\n[budget]\ncpu_percent = 100\n");
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_log("sampling at 59 Hz"));
    ASSERT_TRUE(daemon.wait_for_segments(segment_files(directory).size() + 2));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    const auto segments = read_segments(directory);
    expect_accounts_agree(segments);
    ASSERT_FALSE(segments.empty());
    EXPECT_EQ(segments.back().period, 1'000'000'000U / 59);
}

TEST(Service, DoesNotStartBesideAnotherOneWithItsStore) {
    const TemporaryDirectory directory;
    ServiceDaemon daemon(directory);
    ASSERT_TRUE(daemon.wait_until_it_samples());
    ServiceDaemon second(directory);
    EXPECT_EQ(second.wait().exit_status, 1);
}

TEST(Service, DoesNotSampleWhileTheKillSwitchIsThere) {
    const TemporaryDirectory directory;
    const std::filesystem::path path = directory / "killswitch";
    const std::vector<std::pair<std::string, std::string>> environment{
        {"BOBBIN_KILLSWITCH", path.string()}};
    {
        std::ofstream(path) << "";
        ServiceDaemon daemon(directory, {}, environment);
        const FinishedProcess finished = daemon.wait();
        EXPECT_EQ(finished.exit_status, 0);
        EXPECT_THAT(finished.standard_output, HasSubstr("nothing is sampled"));
        EXPECT_TRUE(segment_files(directory).empty());
    }
    std::filesystem::remove(path);
    ServiceDaemon daemon(directory, {}, environment);
    // The first may have begun at its end and be too short for a tick.
    ASSERT_TRUE(daemon.wait_for_segments(2));
    std::ofstream(path) << "";
    EXPECT_TRUE(daemon.wait_for_log("sampling pauses: the kill switch is on"));
    // A whole segment without a tick.
    ASSERT_TRUE(daemon.wait_for_segments(segment_files(directory).size() + 3));
    const std::size_t paused = segment_files(directory).size() - 1;
    std::filesystem::remove(path);
    EXPECT_TRUE(daemon.wait_for_log("is gone: sampling goes on"));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    const auto segments = read_segments(directory);
    EXPECT_EQ(accounting_of(segments.at(paused))["ticks"], 0U);
    expect_accounts_agree(segments);
}

FinishedProcess ctl(const TemporaryDirectory& directory, std::vector<std::string> words) {
    words.insert(words.begin(), {program_path(), "ctl"});
    words.insert(words.end(), {"--config", (directory / "bobbin.toml").string()});
    return run_process(words);
}

TEST(Service, DoesWhatCtlAsksOfIt) {
    const TemporaryDirectory directory;
    ServiceDaemon daemon(directory);
    ASSERT_TRUE(daemon.wait_until_it_samples());
    const auto boosted = ctl(directory, {"boost", "--frequency", "499", "-d", "60s"});
    EXPECT_EQ(boosted.exit_status, 0) << boosted.standard_error;
    EXPECT_TRUE(daemon.wait_for_log("sampling at 499 Hz"));
    ASSERT_TRUE(daemon.wait_for_segments(2));
    const std::string output = (directory / "snapshot.pb.gz").string();
    const auto snapshot = ctl(directory, {"snapshot", "--last", "10m", "-o", output});
    EXPECT_EQ(snapshot.exit_status, 0) << snapshot.standard_error;
    const std::uint64_t before = read_pprof(output).sample_count();
    EXPECT_EQ(ctl(directory, {"pause"}).exit_status, 0);
    EXPECT_TRUE(daemon.wait_for_log("sampling pauses: paused by bobbin ctl"));
    EXPECT_EQ(ctl(directory, {"resume"}).exit_status, 0);
    EXPECT_EQ(ctl(directory, {"reload"}).exit_status, 0);
    EXPECT_TRUE(daemon.wait_for_log("the configuration was read again"));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    const auto segments = read_segments(directory);
    expect_accounts_agree(segments);
    std::uint64_t stored = 0;
    for (const ProfileText& segment : segments) stored += segment.sample_count();
    EXPECT_GT(before, 0U);
    EXPECT_LE(before, stored);
}

// The shell says what its child took, from the kernel's own accounts.
TEST(Service, SamplesLessOverBudgetAndKeepsTimesTrue) {
    const TemporaryDirectory directory;
    const std::string fixture = "known_chain.gcc.pie";
    ServiceDaemon daemon(directory, "[profile]\nfrequency = 499\n[budget]\ncpu_percent = 0.05\n");
    ASSERT_TRUE(daemon.wait_until_it_samples());
    ChildProcess load({"/bin/bash", "-c", "'" + fixture_path(fixture) + "' 30; times"});
    EXPECT_TRUE(daemon.wait_for_log("budget: "));
    const FinishedProcess loaded = load.wait();
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);

    // "0m0.002s 0m0.001s" of the shell, then "0m29.512s 0m0.020s" of its children.
    const std::string& output = loaded.standard_output;
    const std::string text = output.substr(output.rfind('\n', output.size() - 2) + 1);
    const double taken = std::stod(text) * 60 + std::stod(text.substr(text.find('m') + 1));
    ASSERT_GT(taken, 3);
    const auto segments = read_segments(directory);
    expect_accounts_agree(segments);
    const double sampled = cpu_seconds_of(segments, comm_of(fixture));
    EXPECT_GT(sampled, 0.7 * taken);
    EXPECT_LT(sampled, 1.3 * taken);
}

}  // namespace
}  // namespace bobbin::test
