// SPDX-License-Identifier: Apache-2.0
// `bobbin report` of what `bobbin record` wrote, beside what `go tool pprof` reads there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

using testing::HasSubstr;

constexpr char kProgram[] = "known_chain.gcc.pie";

FinishedProcess report(const std::filesystem::path& file, const std::vector<std::string>& options) {
    std::vector<std::string> arguments{program_path(), "report", file};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_process(arguments);
}

// The samples of the row that ends in `name`: "  1,234  98.7 %  name".
std::uint64_t count_of(const std::string& text, const std::string& name) {
    std::smatch found;
    const std::regex row("(?:^|\n) *([0-9,]+)  +[<>]?[0-9.]+ %  " + name + "(?=\n)");
    if (!std::regex_search(text, found, row)) return 0;
    return std::stoull(std::regex_replace(found[1].str(), std::regex(","), ""));
}

class Report : public testing::Test {
protected:
    TemporaryDirectory directory_;
    RecordedRun run_ = record(directory_, {"-F", "499"}, {fixture_path(kProgram), "2"});
    std::filesystem::path file_ = directory_ / "profile.pb.gz";
};

TEST_F(Report, CountsTheSamplesThatAreThere) {
    const auto answer = report(file_, {"--by", "label:comm", "--sample-type", "samples"});
    ASSERT_EQ(answer.exit_status, 0) << answer.standard_error;
    const std::string comm = comm_of(kProgram);
    EXPECT_GE(count_of(answer.standard_output, comm), 300U) << answer.standard_output;
    EXPECT_EQ(count_of(answer.standard_output, comm), run_.profile.sample_count_of(comm));
}

TEST_F(Report, ReadsStandardInput) {
    const auto named = report(file_, {"--json", "--by", "module"});
    const auto piped =
        run_process({"/bin/sh", "-c", "exec \"$0\" report - --json --by module < \"$1\"",
                     program_path(), file_});
    ASSERT_EQ(piped.exit_status, 0) << piped.standard_error;
    const std::regex name("\"file\": \"[^\"]*\"");
    EXPECT_EQ(std::regex_replace(piped.standard_output, name, ""),
              std::regex_replace(named.standard_output, name, ""));
    EXPECT_THAT(piped.standard_output, HasSubstr(kProgram));
}

TEST_F(Report, ShowsWhoCalledWhom) {
    const auto tree = report(file_, {"--tree", "--focus", kProgram});
    ASSERT_EQ(tree.exit_status, 0) << tree.standard_error;
    EXPECT_THAT(tree.standard_output, HasSubstr("  main  " + std::string(kProgram)));
    const auto peek = report(file_, {"--peek", "^main$", "--focus", kProgram});
    EXPECT_THAT(peek.standard_output, HasSubstr("\n  called by\n"));
    EXPECT_THAT(peek.standard_output, HasSubstr("\n  calls\n"));
}

TEST(ReportRefuses, AFileThatIsNotThereAndSaysWhatToDo) {
    const auto answer = report("/nonexistent/x.pb.gz", {});
    EXPECT_EQ(answer.exit_status, 1);
    EXPECT_EQ(answer.standard_output, "");
    EXPECT_THAT(answer.standard_error,
                testing::MatchesRegex("bobbin: .*\n.*no such file\nrun:  .*\n"));
}

TEST(ReportRefuses, AFileThatIsNoProfile) {
    const auto answer = report(program_path(), {});
    EXPECT_EQ(answer.exit_status, 1);
    EXPECT_EQ(answer.standard_output, "");
}

TEST(ReportRefuses, APatternThatIsNone) {
    const auto answer = report("/nonexistent/x.pb.gz", {"--focus", "(a"});
    EXPECT_EQ(answer.exit_status, 2);
    EXPECT_THAT(answer.standard_error, HasSubstr("bobbin report --help"));
}

TEST(ReportRefuses, ASampleTypeThatTheFileHasNot) {
    const TemporaryDirectory directory;
    record(directory, {"-F", "99"}, {"true"});
    const auto answer = report(directory / "profile.pb.gz", {"--sample-type", "frogs"});
    EXPECT_EQ(answer.exit_status, 1);
    EXPECT_THAT(answer.standard_error, HasSubstr("samples cpu"));
}

}  // namespace
}  // namespace bobbin::test
