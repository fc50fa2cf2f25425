// SPDX-License-Identifier: Apache-2.0
// `bobbin explain` of real recordings: what is missing is named, with what helps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>

#include "support/record_run.h"

namespace bobbin::test {
namespace {

using testing::HasSubstr;

std::string explain(const TemporaryDirectory& directory, const std::string& option = {}) {
    std::vector<std::string> arguments{program_path(), "explain", directory / "profile.pb.gz"};
    if (!option.empty()) arguments.push_back(option);
    const FinishedProcess answer = run_process(arguments);
    EXPECT_EQ(answer.exit_status, 0) << answer.standard_error;
    return answer.standard_output;
}

// Its code was made at run time, and nobody wrote names for it.
TEST(Explain, NamesGeneratedCodeAsWhatHasNoNames) {
    const TemporaryDirectory directory;
    record(directory, {"-F", "499"}, {fixture_path("generated_code.gcc.pie"), "2"});
    const std::string text = explain(directory);
    EXPECT_THAT(text, HasSubstr("of frames have no name: [anon]\n")) << text;
    EXPECT_THAT(text, HasSubstr("/tmp/perf-PID.map")) << text;
    EXPECT_THAT(explain(directory, "--json"), HasSubstr("\"module\": \"[anon]\"")) << text;
}

// The share of whole stacks in the first line is the one that the recording told at its end.
TEST(Explain, SaysWhatTheSummaryOfTheRecordingSaid) {
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499"}, {fixture_path("known_chain.gcc.pie"), "2"});
    const std::regex line("(?:^|\n)(Stacks   [^\n]*)");
    std::smatch told;
    ASSERT_TRUE(std::regex_search(run.process.standard_error, told, line));
    EXPECT_THAT(explain(directory), HasSubstr(told[1].str() + "\n"));
}

TEST(Explain, RefusesAFileThatIsNotThere) {
    const FinishedProcess answer = run_process({program_path(), "explain", "/nonexistent/x.pb.gz"});
    EXPECT_EQ(answer.exit_status, 1);
    EXPECT_EQ(answer.standard_output, "");
    EXPECT_THAT(answer.standard_error, HasSubstr("\nrun:  "));
}

}  // namespace
}  // namespace bobbin::test
