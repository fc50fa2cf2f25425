// SPDX-License-Identifier: Apache-2.0
// Names come from a process that may fail. It costs names only.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

constexpr char kProgram[] = "known_chain.gcc.pie";

std::uint64_t samples_with_chain(const ProfileText& profile) {
    std::uint64_t count = 0;
    for (const Stack& stack : profile.stacks_of(comm_of(kProgram))) {
        const auto frames = stack.user_frames();
        if (!frames.empty() && chain_link_of(frames.front()) != 0) count += stack.count;
    }
    return count;
}

TEST(NamesThatCannotBeHadInTime, CostNoSamples) {
    const TemporaryDirectory directory;
    const auto output = directory / "profile.pb.gz";
    const FinishedProcess finished = run_process(
        {program_path(), "record", "-F", "499", "-o", output, "--", fixture_path(kProgram), "2"},
        {{"BOBBIN_NAMES_MILLISECONDS", "0"}, {"CACHE_DIRECTORY", directory / "cache"}});
    ASSERT_EQ(finished.exit_status, 0) << finished.standard_error;
    EXPECT_NE(finished.standard_error.find("no names: reading it takes longer than 0 s"),
              std::string::npos)
        << finished.standard_error;
    const ProfileText profile = read_pprof(output);
    expect_every_tick_accounted_for(profile);
    EXPECT_GE(profile.sample_count_of(comm_of(kProgram)), 300U);
    EXPECT_EQ(samples_with_chain(profile), 0U);
}

TEST(NamesThatComeFromTheWorker, AreNotMissedBySummary) {
    const TemporaryDirectory directory;
    const RecordedRun run = record(directory, {"-F", "499"}, {fixture_path(kProgram), "2"});
    EXPECT_GE(samples_with_chain(run.profile), 300U);
    EXPECT_EQ(run.process.standard_error.find("no names"), std::string::npos)
        << run.process.standard_error;
    EXPECT_EQ(run.process.standard_error.find("more rights"), std::string::npos)
        << run.process.standard_error;
}

// Only programs with debugging information are kept: nothing better can be found for them later.
TEST(NamesFoundBefore, AreThereWithoutReadingTheFileAgain) {
    constexpr const char* kSource =
        "#include <time.h>\n"
        "__attribute__((noinline)) void spin(void) {\n"
        "    for (volatile unsigned i = 0; i < 1000000; ++i) {}\n"
        "}\n"
        "int main(void) { while (clock() < 2 * CLOCKS_PER_SEC) spin(); }\n";
    const TemporaryDirectory directory;
    std::ofstream(directory / "spin.c") << kSource;
    const std::filesystem::path program = directory / "spinner";
    const FinishedProcess built =
        run_process({"cc", "-O1", "-g", "-o", program, directory / "spin.c"});
    ASSERT_EQ(built.exit_status, 0) << built.standard_error;

    const auto samples_in_spin = [&](const std::string& name, const std::string& milliseconds) {
        const auto output = directory / name;
        const FinishedProcess recorded =
            run_process({program_path(), "record", "-F", "499", "-o", output, "--", program},
                        {{"BOBBIN_NAMES_MILLISECONDS", milliseconds},
                         {"CACHE_DIRECTORY", directory / "cache"}});
        EXPECT_EQ(recorded.exit_status, 0) << recorded.standard_error;
        std::uint64_t count = 0;
        for (const Stack& stack : read_pprof(output).stacks_of("spinner")) {
            const auto frames = stack.user_frames();
            if (!frames.empty() && is_function(frames.front(), "spin")) count += stack.count;
        }
        return count;
    };
    EXPECT_GE(samples_in_spin("first.pb.gz", "30000"), 300U);
    EXPECT_GE(samples_in_spin("second.pb.gz", "0"), 300U) << "no time to find any";
}

}  // namespace
}  // namespace bobbin::test
