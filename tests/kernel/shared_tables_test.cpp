// SPDX-License-Identifier: Apache-2.0
// One file in ten container images is ten inodes with one content: one unwind table serves them
// all.
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

constexpr int kCopies = 6;

std::string copy_name(int number) { return "copy_" + std::to_string(number); }

// Six tables of six tenths of a bucket, and room for three buckets: of tables of their own, three
// would have to stay away.
TEST(CopiesOfAProgram, ShareOneTable) {
    const TemporaryDirectory directory;
    std::vector<std::string> command{"/bin/sh", "-c", "for copy; do \"$copy\" 2 & done; wait",
                                     "sh"};
    for (int number = 1; number <= kCopies; ++number)
        command.push_back(copy_fixture("large_table.1", directory / copy_name(number)));
    const RecordedRun run = record(directory, {"-F", "499", "--max-unwind-memory", "4M"}, command);
    auto ends = accounting_of(run.profile);
    EXPECT_EQ(ends["stack_no_room"], 0U) << run.process.standard_error;
    for (int number = 1; number <= kCopies; ++number) {
        const Verdict verdict = judge(
            run.profile.stacks_of(copy_name(number)),
            [](const Stack& stack) { return !stack.user_frames().empty(); },
            reaches_main_and_bottom);
        EXPECT_GE(verdict.judged, 500U) << copy_name(number);
        EXPECT_GE(verdict.share_right(), 0.98) << verdict.examples();
        // Each is named by its own file.
        for (const Stack& stack : run.profile.stacks_of(copy_name(number))) {
            const auto frames = stack.user_frames();
            if (frames.empty() || !is_function(frames.back(), "_start")) continue;
            ASSERT_EQ(frames.back().module, copy_name(number)) << describe(stack);
        }
    }
}

// A build id and a size say nothing: whoever builds a program can choose both. The frames of one
// have 24 bytes of locals, those of the other 1,304, so neither can be walked by the other's table.
TEST(ProgramsWithOneBuildId, HaveTablesOfTheirOwn) {
    const TemporaryDirectory directory;
    const auto red = copy_fixture("processes_chain.red.same_id", directory / "red_program");
    const auto blue = copy_fixture("processes_chain.blue.same_id", directory / "blue_program");
    const auto size = std::max(std::filesystem::file_size(red), std::filesystem::file_size(blue));
    std::filesystem::resize_file(red, size);
    std::filesystem::resize_file(blue, size);
    const RecordedRun run = record_processes(
        {"/bin/sh", "-c", "\"$1\" 1.5; \"$2\" 1.5; \"$1\" 1 & \"$2\" 1; wait", "sh", red, blue});
    expect_one_colour(run.profile.stacks_of("red_program"), "red");
    expect_one_colour(run.profile.stacks_of("blue_program"), "blue");
}

}  // namespace
}  // namespace bobbin::test
