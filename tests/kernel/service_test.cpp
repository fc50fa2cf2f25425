// SPDX-License-Identifier: Apache-2.0
// `bobbin daemon` from its start to its end: what it stores, and what it does when it is told to
// end, to pause, to save, or is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "kernel/service_daemon.h"
#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"
#include "support/silent_server.h"

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
    EXPECT_EQ(run_process({fixture_path(fixture), "3"}).exit_status, 0);
    ASSERT_TRUE(daemon.wait_for_segments(3));
    daemon.send_signal(SIGTERM);
    const FinishedProcess finished = daemon.wait();
    EXPECT_EQ(finished.exit_status, 0) << finished.standard_output;

    const std::vector<ProfileText> segments = read_segments(directory);
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
    ASSERT_TRUE(std::ranges::includes(after, before));
    std::vector<std::filesystem::path> since;
    std::ranges::set_difference(after, before, std::back_inserter(since));
    expect_accounts_agree(read_segments(since, directory));
    // What waited to be read when the process was killed is not there.
    const auto killed = read_segments(before, directory);
    expect_ticks_add_up(killed);
    EXPECT_LE(sample_count_of(killed), accounts_of(killed)["emitted"]);
}

// Goes on until the end of its life.
ChildProcess start_load() { return ChildProcess({fixture_path("known_chain.clang.pie")}); }

std::uint64_t ticks_of(const ProfileText& segment) { return accounting_of(segment)["ticks"]; }

TEST(Service, TakesAnotherConfigurationOverOrLeavesEverythingAsItWas) {
    const TemporaryDirectory directory;
    const ChildProcess load = start_load();
    ServiceDaemon daemon(directory);
    ASSERT_TRUE(daemon.wait_until_it_samples());
    ServiceDaemon::write_config(directory, {.more = "[profile]\nfrequenzy = 49\n"});
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_log("frequency"));  // the nearest name
    EXPECT_TRUE(daemon.wait_for_log("the configuration stays as it was"));
    ServiceDaemon::write_config(
        directory, {.more = "[profile]\nfrequency = 49\n[budget]\ncpu_percent = 100\n"});
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_log("the configuration was read again"));
    EXPECT_TRUE(daemon.wait_for_log("sampling at 49 Hz"));
    // Other frames need another recording.
    ServiceDaemon::write_config(
        directory,
        {.more = "[profile]\nfrequency = 59\nscope = \"user\"\n[budget]\ncpu_percent = 100\n"});
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_log("sampling at 59 Hz"));
    EXPECT_TRUE(daemon.wait_for_segment(
        [](const ProfileText& segment) { return segment.period == 1'000'000'000U / 59; }));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    expect_accounts_agree(read_segments(directory));
}

TEST(Service, KeepsASegmentInTheStoreThatItBeganIn) {
    const TemporaryDirectory directory;
    ServiceDaemon daemon(directory, {.segment = "1h"});
    ASSERT_TRUE(daemon.wait_until_it_samples());
    EXPECT_EQ(run_process({fixture_path("known_chain.gcc.pie"), "1"}).exit_status, 0);
    ServiceDaemon::write_config(directory, {.segment = "1h", .store = "other"});
    daemon.send_signal(SIGHUP);
    ASSERT_TRUE(daemon.wait_for_log("the configuration was read again"));
    EXPECT_EQ(run_process({fixture_path("known_chain.clang.pie"), "1"}).exit_status, 0);
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    const auto first = read_segments(segment_files(directory), directory);
    const auto second = read_segments(segment_files(directory, "other"), directory);
    EXPECT_GT(cpu_seconds_of(first, comm_of("known_chain.gcc.pie")), 0);
    EXPECT_EQ(cpu_seconds_of(first, comm_of("known_chain.clang.pie")), 0);
    EXPECT_GT(cpu_seconds_of(second, comm_of("known_chain.clang.pie")), 0);
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
    const ChildProcess load = start_load();
    ServiceDaemon daemon(directory, {}, environment);
    const auto is_sampled = [](const ProfileText& segment) { return ticks_of(segment) != 0; };
    ASSERT_TRUE(daemon.wait_for_segment(is_sampled));
    std::ofstream(path) << "";
    EXPECT_TRUE(daemon.wait_for_log("sampling pauses: the kill switch is on"));
    EXPECT_TRUE(daemon.wait_for_segment(std::not_fn(is_sampled)));
    std::filesystem::remove(path);
    EXPECT_TRUE(daemon.wait_for_log("is gone: sampling goes on"));
    EXPECT_TRUE(daemon.wait_for_segment(is_sampled));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    expect_accounts_agree(read_segments(directory));
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
    EXPECT_GT(before, 0U);
    EXPECT_LE(before, sample_count_of(segments));
}

// The program takes 2 s of CPU time, however long it lasts. At the first rate these would be some
// 4,000 samples; what is left of them stands for the same time.
TEST(Service, SamplesLessOverBudgetAndKeepsTimesTrue) {
    const TemporaryDirectory directory;
    const std::string fixture = "known_chain.gcc.pie";
    ServiceDaemon daemon(
        directory,
        {.more = "[profile]\nfrequency = 1999\n[budget]\ncpu_percent = 0.3\n", .segment = "1h"});
    {
        const ChildProcess load = start_load();
        ASSERT_TRUE(daemon.wait_for_log("budget: "));
    }
    EXPECT_EQ(run_process({fixture_path(fixture), "2"}).exit_status, 0);
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    const auto segments = read_segments(directory);
    expect_accounts_agree(segments);
    std::uint64_t samples = 0;
    for (const ProfileText& segment : segments)
        samples += segment.sample_count_of(comm_of(fixture));
    EXPECT_LT(samples, 4'000 / 2);
    const double sampled = cpu_seconds_of(segments, comm_of(fixture));
    EXPECT_GT(sampled, 0.7 * 2);
    EXPECT_LT(sampled, 1.3 * 2);
}

TEST(Service, PausesOverBudgetWhereItIsToldTo) {
    const TemporaryDirectory directory;
    const ChildProcess load = start_load();
    ServiceDaemon daemon(
        directory,
        {.more = "[profile]\nfrequency = 1999\n[budget]\ncpu_percent = 0.3\naction = \"pause\"\n"});
    EXPECT_TRUE(daemon.wait_for_log("sampling pauses: over budget"));
    EXPECT_TRUE(
        daemon.wait_for_segment([](const ProfileText& segment) { return ticks_of(segment) == 0; }));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    expect_accounts_agree(read_segments(directory));
}

// Whoever is to name it has asked a server that does not answer; that would be waited for for 20 s.
TEST(Service, StoresASegmentWhoseNamesDoNotCome) {
    const TemporaryDirectory directory;
    const SilentServer server;
    ServiceDaemon daemon(
        directory,
        {.more = "[profile]\nfrequency = 499\n[budget]\ncpu_percent = 100\n"
                 "[symbols]\ndebuginfod = true\n"},
        {{"DEBUGINFOD_URLS", server.url()}, {"DEBUGINFOD_CACHE_PATH", directory / "cache"}});
    ASSERT_TRUE(daemon.wait_until_it_samples());
    const ChildProcess load({fixture_path("known_chain.gcc.no_symbols")});
    ASSERT_TRUE(server.wait_until_asked());
    daemon.send_signal(SIGTERM);
    EXPECT_TRUE(daemon.wait_for_log("a segment is stored without names"));
    EXPECT_EQ(daemon.wait().exit_status, 0);
    expect_accounts_agree(read_segments(directory));
}

}  // namespace
}  // namespace bobbin::test
