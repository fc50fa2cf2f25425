// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "support/record_run.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;

FinishedProcess record_command(const TemporaryDirectory& directory,
                               const std::vector<std::string>& command) {
    std::vector<std::string> arguments{program_path(), "record", "-o", directory / "profile.pb.gz",
                                       "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return run_process(arguments);
}

TEST(RecordedCommand, GivesItsOwnExitStatus) {
    const TemporaryDirectory directory;
    EXPECT_EQ(record_command(directory, {"true"}).exit_status, 0);
    EXPECT_EQ(record_command(directory, {"sh", "-c", "exit 3"}).exit_status, 3);
    EXPECT_EQ(record_command(directory, {"sh", "-c", "exit 125"}).exit_status, 125);
}

TEST(RecordedCommand, GivesTheStatusOfAShellWhenASignalEndsIt) {
    const TemporaryDirectory directory;
    EXPECT_EQ(record_command(directory, {"sh", "-c", "kill -9 $$"}).exit_status, 128 + 9);
    EXPECT_EQ(record_command(directory, {"sh", "-c", "kill -15 $$"}).exit_status, 128 + 15);
}

TEST(RecordedCommand, GivesTheStatusOfEnvWhenItCannotBeStarted) {
    const TemporaryDirectory directory;
    EXPECT_EQ(record_command(directory, {"no-such-command-anywhere"}).exit_status, 127);
    EXPECT_EQ(record_command(directory, {"/dev/null"}).exit_status, 126);
}

TEST(RecordedCommand, KeepsStandardOutputForItself) {
    const TemporaryDirectory directory;
    const FinishedProcess run =
        record_command(directory, {"sh", "-c", "printf 'one\\ntwo'; printf three >&2"});
    EXPECT_EQ(run.standard_output, "one\ntwo");
    EXPECT_NE(run.standard_error.find("three"), std::string::npos);
}

TEST(RecordedCommand, RunsWithTheArgumentsAndEnvironmentGiven) {
    const TemporaryDirectory directory;
    const FinishedProcess run =
        run_process({program_path(), "record", "-o", directory / "profile.pb.gz", "--", "sh", "-c",
                     "printf '%s|' \"$@\" \"$BOBBIN_TEST_VALUE\"", "sh", "-F", "a b", "--", "-o"},
                    {{"BOBBIN_TEST_VALUE", "kept"}});
    EXPECT_EQ(run.standard_output, "-F|a b|--|-o|kept|");
}

// A blocked signal or an ignored SIGINT would change how the command behaves under Ctrl-C.
TEST(RecordedCommand, StartsWithDefaultSignals) {
    const TemporaryDirectory directory;
    const FinishedProcess direct = run_process({"grep", "^Sig[BIC]", "/proc/self/status"});
    const FinishedProcess recorded =
        record_command(directory, {"grep", "^Sig[BIC]", "/proc/self/status"});
    EXPECT_EQ(recorded.standard_output, direct.standard_output);
}

TEST(RecordedCommand, RunsAsTheUserBehindSudo) {
    const TemporaryDirectory directory;
    const FinishedProcess run =
        run_process({program_path(), "record", "-o", directory / "profile.pb.gz", "--", "sh", "-c",
                     "id -u; id -g; grep ^CapEff /proc/self/status"},
                    {{"SUDO_UID", "65534"}, {"SUDO_GID", "65533"}, {"SUDO_USER", "nobody"}});
    EXPECT_EQ(run.exit_status, 0) << run.standard_error;
    EXPECT_EQ(run.standard_output, "65534\n65533\nCapEff:\t0000000000000000\n");
}

// Without rights there is nothing to record: what, why, and one command to paste.
TEST(WithoutPrivilege, RecordSaysWhatToTypeInThreeLines) {
    const TemporaryDirectory directory;
    const fs::path program = directory / "bobbin";  // the build tree may be closed to other users
    fs::copy_file(program_path(), program);
    const FinishedProcess run =
        run_process({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                     "--inh-caps=-all", program, "record", "-d", "1", "-o", "/tmp/unused.pb.gz"});
    EXPECT_EQ(run.exit_status, 77);
    EXPECT_EQ(run.standard_output, "");
    EXPECT_EQ(std::count(run.standard_error.begin(), run.standard_error.end(), '\n'), 3)
        << run.standard_error;
    EXPECT_NE(run.standard_error.find("sudo"), std::string::npos) << run.standard_error;
}

}  // namespace
}  // namespace bobbin::test
