// SPDX-License-Identifier: Apache-2.0
// Processes as they live: they fork without exec, exec after vfork, lose their main thread, change
// their names, end after milliseconds and leave their pid to the next.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "kernel/processes_stacks.h"
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

TEST(ShellLoop, ComesBackWhole) {
    const RecordedRun run =
        record_processes({"sh", "-c", "i=0; while [ $i -lt 50 ]; do \"$0\" 0.03; i=$((i+1)); done",
                          fixture_path("processes_chain.red")});
    expect_one_colour(run.profile.stacks_of("processes_chain"), "red");
    expect_complete_stacks(run.profile, kCompleteShare, 500);
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
