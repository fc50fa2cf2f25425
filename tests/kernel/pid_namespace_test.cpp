// SPDX-License-Identifier: Apache-2.0
// The recorder in a pid namespace, as in a container that may sample: every process has another
// number there than in the kernel, or none.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernel/processes_stacks.h"
#include "support/profile_readers.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

constexpr const char* kRed = "processes_chain.red.static";
constexpr const char* kBlue = "processes_chain.blue.static";
constexpr std::uint64_t kFewest = 300;

// Runs `script` in a new pid namespace: $1 is bobbin, $2 the profile it shall write, $3 a program
// that works for as many seconds of CPU time as it is told.
RecordedRun record_in_namespace(const std::string& script,
                                const std::vector<std::string>& unshare_options = {
                                    "--mount-proc"}) {
    const TemporaryDirectory directory;
    const std::filesystem::path output = directory / "profile.pb.gz";
    const auto program = copy_fixture(kRed, directory / "red_program");
    stay_root();
    std::vector<std::string> command{"unshare", "--pid", "--fork", "--kill-child"};
    command.insert(command.end(), unshare_options.begin(), unshare_options.end());
    command.insert(command.end(),
                   {"sh", "-e", "-c", script, "sh", program_path(), output, program});
    return recorded_by(command, output);
}

// "said N": what the shell in the namespace knows of itself before it becomes the program.
std::string number_said(const RecordedRun& run) {
    const std::string& text = run.process.standard_output;
    const std::size_t at = text.find("said ");
    return at == std::string::npos ? "" : text.substr(at + 5, text.find('\n', at) - at - 5);
}

void expect_pid(const std::vector<Stack>& stacks, const std::string& pid) {
    EXPECT_FALSE(stacks.empty());
    for (const Stack& stack : stacks) {
        ASSERT_EQ(stack.label("pid"), pid) << describe(stack);
        ASSERT_EQ(stack.label("tid"), pid) << describe(stack);
    }
}

TEST(RecorderInAPidNamespace, FollowsWhatItStarts) {
    const RecordedRun run = record_in_namespace(
        R"("$1" record -F 499 -o "$2" -- sh -c 'echo said $$; exec "$0" 2' "$3")");
    const std::vector<Stack> stacks = run.profile.stacks_of("red_program");
    expect_one_colour(stacks, "red");
    expect_pid(stacks, number_said(run));
}

TEST(RecorderInAPidNamespace, TakesTheNumbersOfItsNamespaceForTargets) {
    const RecordedRun run =
        record_in_namespace(R"("$3" 30 & echo said $!; "$1" record -F 499 -d 2 -o "$2" -p $!)");
    const std::vector<Stack> stacks = run.profile.stacks_of("red_program");
    expect_one_colour(stacks, "red");
    expect_pid(stacks, number_said(run));
    EXPECT_EQ(run.profile.sample_count(), run.profile.sample_count_of("red_program"))
        << "nobody else";
}

// A process of a namespace below has a number in each one above, too.
TEST(RecorderInAPidNamespace, SeesIntoNamespacesBelow) {
    const RecordedRun run = record_in_namespace(
        R"("$1" record -F 499 -o "$2" -- unshare --pid --fork sh -c 'exec "$0" 2' "$3")");
    const std::vector<Stack> stacks = run.profile.stacks_of("red_program");
    expect_one_colour(stacks, "red");
    for (const Stack& stack : stacks) {
        EXPECT_NE(stack.label("pid"), "1") << "that is its number down there";
        EXPECT_NE(stack.label("pid"), "0");
    }
}

// The /proc of the namespace above is what the recorder has to find files with.
TEST(RecorderInAPidNamespace, FindsFilesThroughTheProcThatItSees) {
    const RecordedRun run =
        record_in_namespace(R"("$1" record -F 499 -o "$2" -- "$3" 2)", {"--mount"});
    expect_one_colour(run.profile.stacks_of("red_program"), "red");
}

// Outside there are processes whose files nothing in this namespace leads to: nobody else's are
// taken for theirs, no time is spent on waiting, and the summary says why their stacks are not
// whole.
TEST(RecorderInAPidNamespace, SaysWhatItCannotSee) {
    const TemporaryDirectory directory;
    const auto program = copy_fixture(kBlue, directory / "blue_program");
    ChildProcess outside({program, "60"});
    ASSERT_TRUE(outside.wait_for_output("running"));
    const RecordedRun run = record_in_namespace(R"("$1" record -F 499 -a -o "$2" -- "$3" 2)");
    expect_one_colour(run.profile.stacks_of("red_program"), "red");
    const std::vector<Stack> of_outside = run.profile.stacks_of("blue_program");
    expect_pid(of_outside, "0");
    const auto in_red = [](const Stack& stack) { return has_colour(stack, "red"); };
    EXPECT_TRUE(std::none_of(of_outside.begin(), of_outside.end(), in_red));
    EXPECT_GE(accounting_of(run.profile)["stack_file_out_of_sight"], kFewest);
    EXPECT_NE(run.process.standard_error.find("outside of bobbin's pid namespace"),
              std::string::npos)
        << run.process.standard_error;
}

}  // namespace
}  // namespace bobbin::test
