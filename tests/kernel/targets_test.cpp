// SPDX-License-Identifier: Apache-2.0
// Of two that work at the same time, only the one that was asked for is in the profile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernel/scratch_cgroup.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;

const std::string kFirst = "known_chain.gcc.pie";
const std::string kSecond = "known_chain.clang.pie";

// Two programs at work until the test ends.
class TwoProcesses : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(first_.wait_for_output("running"));
        ASSERT_TRUE(second_.wait_for_output("running"));
    }

    static RecordedRun record_for_2s(std::vector<std::string> options) {
        const TemporaryDirectory directory;
        options.insert(options.end(), {"-F", "499", "-d", "2"});
        RecordedRun run = record(directory, options, {});
        EXPECT_GT(accounting_of(run.profile)["not_a_target"], 0U)
            << "this process ran too, and was not asked for";
        return run;
    }
    static void expect_only(const ProfileText& profile, const std::string& label,
                            const std::vector<std::string>& wanted) {
        for (const Stack& stack : profile.stacks) {
            EXPECT_NE(std::ranges::find(wanted, stack.label(label)), wanted.end())
                << describe(stack);
        }
        for (const std::string& value : wanted) {
            EXPECT_TRUE(std::ranges::any_of(
                profile.stacks, [&](const Stack& stack) { return stack.label(label) == value; }))
                << label << " " << value << " is missing";
        }
    }
    [[nodiscard]] std::string first_pid() const { return std::to_string(first_.pid()); }
    [[nodiscard]] std::string second_pid() const { return std::to_string(second_.pid()); }

    ChildProcess first_{{fixture_path(kFirst), "3600"}};
    ChildProcess second_{{fixture_path(kSecond), "3600"}};
};

TEST_F(TwoProcesses, AreToldApartByName) {
    const RecordedRun run = record_for_2s({"--comm", kFirst});
    expect_only(run.profile, "pid", {first_pid()});
}

TEST_F(TwoProcesses, AreToldApartByTheBeginningOfTheirNames) {
    expect_only(record_for_2s({"--comm", "known_chain.c*"}).profile, "pid", {second_pid()});
    expect_only(record_for_2s({"--comm", "known_chain*"}).profile, "pid",
                {first_pid(), second_pid()});
}

TEST_F(TwoProcesses, AreToldApartByCgroup) {
    const std::string name = "bobbin-test-" + std::to_string(::getpid());
    const ScratchCgroup outer(name);
    const ScratchCgroup inner(outer, "inner");
    const ScratchCgroup other(name + "-other");
    inner.take(first_.pid());
    other.take(second_.pid());
    const RecordedRun of_outer = record_for_2s({"-G", outer.path()});
    expect_only(of_outer.profile, "pid", {first_pid()});
    expect_only(of_outer.profile, "cgroup", {inner.path()});
    expect_only(record_for_2s({"-G", other.directory()}).profile, "pid", {second_pid()});
    expect_only(record_for_2s({"-G", inner.path(), "-p", second_pid()}).profile, "pid",
                {first_pid(), second_pid()});
}

TEST_F(TwoProcesses, AreToldApartByUnitAndContainer) {
    const std::string unit = "bobbin-test-" + std::to_string(::getpid()) + ".service";
    const std::string id = "b0bb1" + std::string(59, '7');
    const ScratchCgroup service(unit);
    const ScratchCgroup container("docker-" + id + ".scope");
    service.take(first_.pid());
    container.take(second_.pid());
    const RecordedRun of_unit = record_for_2s({"-u", unit});
    expect_only(of_unit.profile, "pid", {first_pid()});
    expect_only(of_unit.profile, "unit", {unit});
    const RecordedRun of_container = record_for_2s({"--container", "b0bb17"});
    expect_only(of_container.profile, "pid", {second_pid()});
    expect_only(of_container.profile, "container", {"b0bb17777777"});
}

// A thread beside the first one, which waits for it.
std::string last_thread_of(pid_t process) {
    std::vector<pid_t> threads;
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
        threads.push_back(std::stoi(entry.path().filename()));
    }
    return std::to_string(*std::ranges::max_element(threads));
}

TEST(RecordOfAThread, HoldsNoOtherThread) {
    ChildProcess process({fixture_path("known_chain_threads.gcc.pie"), "3600"});
    ASSERT_TRUE(process.wait_for_output("running"));
    std::string thread = last_thread_of(process.pid());
    while (thread == std::to_string(process.pid())) thread = last_thread_of(process.pid());
    const TemporaryDirectory directory;
    const RecordedRun run = record(directory, {"-F", "499", "-d", "2", "-t", thread}, {});
    EXPECT_GT(run.profile.sample_count(), 0U);
    for (const Stack& stack : run.profile.stacks)
        EXPECT_EQ(stack.label("tid"), thread) << describe(stack);
    EXPECT_GT(accounting_of(run.profile)["not_a_target"], 0U) << "the other three";
}

// It works for 2 s; there is no other end.
TEST(RecordOfAThread, EndsWithIt) {
    ChildProcess process({fixture_path("known_chain.gcc.pie"), "2"});
    ASSERT_TRUE(process.wait_for_output("running"));
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499", "-t", std::to_string(process.pid())}, {});
    EXPECT_GT(run.profile.sample_count(), 0U);
    EXPECT_EQ(process.wait().exit_status, 0);
}

// Two shells between the process that is named and the one that works.
TEST(RecordOfAProcess, HoldsTheChildrenItHadBefore) {
    const std::string inner = fixture_path(kFirst) + " 3600; true";
    ChildProcess shell({"sh", "-c", "sh -c '" + inner + "'; true"});
    ASSERT_TRUE(shell.wait_for_output("running"));
    ChildProcess other({fixture_path(kSecond), "3600"});
    ASSERT_TRUE(other.wait_for_output("running"));
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499", "-d", "2", "-p", std::to_string(shell.pid())}, {});
    EXPECT_GT(run.profile.sample_count_of(comm_of(kFirst)), 0U);
    EXPECT_EQ(run.profile.sample_count_of(comm_of(kSecond)), 0U);
}

TEST(RecordOfAProcessAndACommand, HoldsBothAndEndsWithTheCommand) {
    ChildProcess process({fixture_path(kFirst), "3600"});
    ASSERT_TRUE(process.wait_for_output("running"));
    const TemporaryDirectory directory;
    const RecordedRun run = record(directory, {"-F", "499", "-p", std::to_string(process.pid())},
                                   {fixture_path(kSecond), "2"});
    EXPECT_GT(run.profile.sample_count_of(comm_of(kFirst)), 0U);
    EXPECT_GT(run.profile.sample_count_of(comm_of(kSecond)), 0U);
}

// Both the program's number and bobbin's view of it are of the inner namespace.
TEST(RecordInAPidNamespace, TakesTheNumbersOfThatNamespace) {
    const TemporaryDirectory directory;
    const fs::path output = directory / "profile.folded";
    const std::string script = fixture_path(kFirst) + " 3600 & wanted=$!; " +
                               fixture_path(kSecond) + " 3600 & other=$!; [ $wanted -lt 10 ]; " +
                               program_path() + " record -F 499 -d 2 -p $wanted -o " +
                               output.string() + "; status=$?; kill $wanted $other; exit $status";
    const FinishedProcess finished =
        run_process({"unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script});
    ASSERT_EQ(finished.exit_status, 0) << finished.standard_error;
    const ProfileText profile = read_folded(output);
    EXPECT_GT(profile.sample_count_of(comm_of(kFirst)), 0U);
    EXPECT_EQ(profile.sample_count_of(comm_of(kSecond)), 0U);
}

}  // namespace
}  // namespace bobbin::test
