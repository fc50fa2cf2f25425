// SPDX-License-Identifier: Apache-2.0
// Processes as they live: they fork without exec, exec after vfork, lose their main thread, change
// their names, end after milliseconds and leave their pid to the next.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernel/processes_stacks.h"
#include "support/profile_readers.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

constexpr const char* kRed = "processes_chain.red.static";
constexpr const char* kLauncher = "processes_launcher";
constexpr double kCompleteShare = 0.99;

ExpectedStack below_launch_forked() { return ExpectedStack{named("launch_forked")} + below_main(); }

std::vector<Stack> of_colour(std::vector<Stack> stacks, const std::string& colour) {
    std::erase_if(stacks, [&](const Stack& stack) { return !has_colour(stack, colour); });
    return stacks;
}

pid_t the_other_thread_of(pid_t process) {
    const std::string tasks = "/proc/" + std::to_string(process) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(tasks)) {
        const pid_t thread = std::stoi(entry.path().filename());
        if (thread != process) return thread;
    }
    return process;
}

TEST(ChildWithoutExec, ComesBackWhole) {
    const RecordedRun run = record_processes({fixture_path(kLauncher), "forked", "30", "0.06"});
    expect_one_colour(of_colour(run.profile.stacks, "green"), "green", below_launch_forked());
    expect_complete_stacks(run.profile, kCompleteShare, 300);
}

TEST(ChildAfterVfork, ComesBackWhole) {
    const RecordedRun run =
        record_processes({fixture_path(kLauncher), "vforked", "30", fixture_path(kRed), "0.06"});
    expect_one_colour(run.profile.stacks_of(comm_of(kRed)), "red");
    expect_complete_stacks(run.profile, kCompleteShare, 300);
}

TEST(ProcessWithoutItsMainThread, ComesBackWhole) {
    const std::string fixture = "processes_chain.red";
    const RecordedRun run = record_processes({fixture_path(fixture), "2", "leader_exits"});
    expect_one_colour(run.profile.stacks_of(comm_of(fixture)), "red",
                      ExpectedStack{named("chain_thread")} + below_thread_function());
}

// Whatever prctl made of name and memory, nothing of it is needed to walk.
TEST(ProcessThatRenamesItself, ComesBackWhole) {
    const RecordedRun run = record_processes({fixture_path(kRed), "2", "renamed"});
    expect_one_colour(run.profile.stacks, "red");
}

// (pid, start time) is the process, not the pid: red, blue and a fork take turns at one.
TEST(PidThatIsUsedAgain, NeverMixesNames) {
    const TemporaryDirectory directory;
    const auto red = copy_fixture(kRed, directory / "red_program");
    const auto blue = copy_fixture("processes_chain.blue.static", directory / "blue_program");
    const RecordedRun run =
        record_processes({fixture_path(kLauncher), "same_pid", "30", red, blue, "0.1"});
    expect_one_colour(run.profile.stacks_of("red_program"), "red");
    expect_one_colour(run.profile.stacks_of("blue_program"), "blue");
    expect_one_colour(of_colour(run.profile.stacks_of(comm_of(kLauncher)), "green"), "green",
                      below_launch_forked());
    for (const Stack& stack : run.profile.stacks) {
        if (!has_colour(stack, "red") && !has_colour(stack, "blue")) continue;
        EXPECT_NE(run.process.standard_output.find("pid " + stack.label("pid") + "\n"),
                  std::string::npos)
            << describe(stack);
    }
}

// The stack's own page is copied on the child's, or the parent's, first write to it. While the
// kernel does that the page is in no page table, and 0.6 to 1.2 % of the samples come at such a
// moment.
TEST(ForkStorm, ComesBackWhole) {
    const RecordedRun run =
        record_processes({fixture_path("processes_children.static"), "forks", "20000x"});
    expect_complete_stacks(run.profile, 0.95, 200);
}

TEST(ExecStorm, ComesBackWhole) {
    const RecordedRun run =
        record_processes({fixture_path("processes_children"), "execs", "2000x", "/bin/true", "0"});
    expect_complete_stacks(run.profile, 0.97, 200);
}

TEST(ShellLoop, ComesBackWhole) {
    const RecordedRun run =
        record_processes({"sh", "-c", "i=0; while [ $i -lt 50 ]; do \"$0\" 0.03; i=$((i+1)); done",
                          fixture_path("processes_chain.red")});
    expect_one_colour(run.profile.stacks_of("processes_chain"), "red");
    expect_complete_stacks(run.profile, kCompleteShare, 500);
}

// As it executes a program, the thread gets the number of its process. Another one that is asked
// for keeps the recording going until that program has ended.
TEST(ThreadThatExecutes, IsFollowedToItsNewNumber) {
    ChildProcess launcher({fixture_path(kLauncher), "thread_execs", fixture_path(kRed), "4"});
    ASSERT_TRUE(launcher.wait_for_output("\n"));
    ChildProcess endless({fixture_path("processes_chain.blue.static")});
    ASSERT_TRUE(endless.wait_for_output("running"));
    const auto thread = std::to_string(the_other_thread_of(launcher.pid()));
    const auto targets = thread + "," + std::to_string(endless.pid());
    const TemporaryDirectory directory;
    const std::filesystem::path output = directory / "profile.pb.gz";
    ChildProcess bobbin({program_path(), "record", "-F", "499", "-t", targets, "-o", output});
    const FinishedProcess finished = launcher.wait();
    EXPECT_NE(finished.standard_output.find("thread " + thread + "\n"), std::string::npos);
    endless.send_signal(SIGKILL);
    endless.wait();
    const FinishedProcess recorded = bobbin.wait();
    ASSERT_EQ(recorded.exit_status, 0) << recorded.standard_error;
    const ProfileText profile = read_pprof(output);
    const std::vector<Stack> before = of_colour(profile.stacks, "green");
    const std::vector<Stack> after = of_colour(profile.stacks, "red");
    EXPECT_FALSE(before.empty());
    EXPECT_FALSE(after.empty());
    for (const Stack& stack : before) EXPECT_EQ(stack.label("tid"), thread) << describe(stack);
    for (const Stack& stack : after)
        EXPECT_EQ(stack.label("tid"), std::to_string(launcher.pid())) << describe(stack);
}

// What the compiler does with the standard library's headers is work enough for samples.
void write_project(const TemporaryDirectory& directory, int files) {
    std::ofstream makefile(directory / "Makefile");
    makefile << "program:";
    for (int i = 0; i < files; ++i) makefile << " part_" << i << ".o";
    makefile << "\n\tg++ -o program *.o\n";
    for (int i = 0; i < files; ++i) {
        std::ofstream source(directory / ("part_" + std::to_string(i) + ".cpp"));
        source << "#include <map>\n#include <string>\n"
               << "std::map<std::string, int> part_" << i
               << "() { return {{\"a\", 1}, {\"b\", 2}}; }\n";
        if (i == 0) source << "int main() { return part_0().size() != 2; }\n";
    }
}

TEST(ParallelMake, ComesBackWhole) {
    const TemporaryDirectory directory;
    write_project(directory, 10);
    const RecordedRun run = record_processes({"make", "-s", "-j2", "-C", directory.path()});
    expect_complete_stacks(run.profile, kCompleteShare, 500);
}

}  // namespace
}  // namespace bobbin::test
