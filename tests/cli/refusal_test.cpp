// SPDX-License-Identifier: Apache-2.0
// What cannot end well is refused before anything is recorded or started.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/record_run.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;

constexpr int kUsageError = 2;

struct Refusal {
    FinishedProcess process;
    bool command_ran = false;
};

Refusal try_to_record(const TemporaryDirectory& directory,
                      const std::vector<std::string>& options) {
    const fs::path trace = directory / "the_command_ran";
    std::vector<std::string> arguments{program_path(), "record"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", "touch", trace});
    Refusal refusal;
    refusal.process = run_process(arguments);
    refusal.command_ran = fs::exists(trace);
    return refusal;
}

void expect_usage_error(const std::vector<std::string>& options, const std::string& mentioned) {
    const TemporaryDirectory directory;
    const Refusal refusal = try_to_record(directory, options);
    EXPECT_EQ(refusal.process.exit_status, kUsageError) << refusal.process.standard_error;
    EXPECT_FALSE(refusal.command_ran);
    EXPECT_EQ(refusal.process.standard_output, "");
    EXPECT_NE(refusal.process.standard_error.find(mentioned), std::string::npos)
        << refusal.process.standard_error;
}

TEST(RecordRefuses, AnUnknownEndingAndNamesTheKnownOnes) {
    expect_usage_error({"-o", "profile.docx"}, ".pb.gz");
    expect_usage_error({"-o", "profile.docx"}, ".folded");
    expect_usage_error({"-o", "profile"}, ".folded");
}

TEST(RecordRefuses, FrequenciesOutsideOneToTenThousand) {
    expect_usage_error({"-F", "0"}, "10");
    expect_usage_error({"-F", "10001"}, "10");
    expect_usage_error({"-F", "-5"}, "-F");
    expect_usage_error({"-F", "often"}, "often");
}

TEST(RecordRefuses, AnUnknownOption) { expect_usage_error({"--no-such-option"}, "no-such-option"); }

TEST(RecordRefuses, AMissingProcess) {
    // Above the largest pid there can be, PID_MAX_LIMIT of 64-bit kernels.
    expect_usage_error({"-p", "4194305"}, "4194305");
}

TEST(RecordRefuses, TargetsThatAreNotThere) {
    expect_usage_error({"-t", "4194305"}, "4194305");
    expect_usage_error({"-G", "/no/such/cgroup"}, "/no/such/cgroup");
    expect_usage_error({"-G", "/proc"}, "/proc");
    expect_usage_error({"-u", "no-such-unit"}, "no-such-unit.service");
    expect_usage_error({"--container", "no_such_container"}, "no_such_container");
    expect_usage_error({"--comm", ""}, "--comm");
}

TEST(RecordRefuses, SizesThatAreNone) {
    expect_usage_error({"--max-memory", "64X"}, "64X");
    expect_usage_error({"--max-unwind-memory", "-1"}, "max-unwind-memory");
    expect_usage_error({"--max-unwind-memory", "1K"}, "at least 4M");
}

TEST(RecordRefuses, AMissingDirectory) {
    const TemporaryDirectory directory;
    const Refusal refusal = try_to_record(directory, {"-o", directory / "missing/profile.pb.gz"});
    EXPECT_NE(refusal.process.exit_status, 0);
    EXPECT_FALSE(refusal.command_ran);
    EXPECT_NE(refusal.process.standard_error.find("missing"), std::string::npos)
        << refusal.process.standard_error;
}

// Root may write everywhere but here: procfs takes no new files.
TEST(RecordRefuses, ADirectoryThatTakesNoFiles) {
    const TemporaryDirectory directory;
    const Refusal refusal = try_to_record(directory, {"-o", "/proc/profile.pb.gz"});
    EXPECT_NE(refusal.process.exit_status, 0);
    EXPECT_FALSE(refusal.command_ran);
    EXPECT_NE(refusal.process.standard_error.find("/proc"), std::string::npos)
        << refusal.process.standard_error;
}

}  // namespace
}  // namespace bobbin::test
