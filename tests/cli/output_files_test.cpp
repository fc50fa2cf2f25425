// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;

struct stat status_of(const fs::path& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status;
}

// Samples of each stack of names, root first, whoever's pid and thread.
std::map<std::string, std::uint64_t> count_by_names(const ProfileText& profile) {
    std::map<std::string, std::uint64_t> counts;
    for (const Stack& stack : profile.stacks) {
        std::string key = stack.label("comm");
        for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
            const bool is_marked = frame->function.ends_with("_[k]");
            key += ";" + frame->function + (frame->is_kernel && !is_marked ? "_[k]" : "");
        }
        counts[key] += stack.count;
    }
    return counts;
}

TEST(RecordWrites, TheSameStacksInEveryFormat) {
    const TemporaryDirectory directory;
    const RecordedRun run = record(directory, {"-F", "499", "-o", directory / "profile.folded"},
                                   {fixture_path("kernel_work.gcc.pie"), "2"});
    const ProfileText folded = read_folded(directory / "profile.folded");
    EXPECT_GE(folded.sample_count(), 300U);
    EXPECT_EQ(count_by_names(folded), count_by_names(run.profile));
}

TEST(RecordWrites, AProfileThatPprofReads) {
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499"}, {fixture_path("known_chain.gcc.pie"), "1"});
    EXPECT_EQ(run.profile.sample_types,
              (std::vector<std::string>{"samples/count", "cpu/nanoseconds"}));
    const fs::path output = directory / "profile.pb.gz";
    EXPECT_NE(run_pprof("-top", output).find("chain_25"), std::string::npos);
    EXPECT_NE(run_pprof("-traces", output).find("chain_25"), std::string::npos);
    EXPECT_NE(run_pprof("-tree", output).find("chain_24"), std::string::npos);
}

TEST(RecordWrites, TheSummaryOnStandardErrorAndInTheProfile) {
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499"}, {fixture_path("known_chain.gcc.pie"), "1"});
    EXPECT_NE(run.process.standard_error.find("samples"), std::string::npos);
    EXPECT_NE(run.process.standard_error.find("complete"), std::string::npos);
    EXPECT_NE(run.process.standard_error.find("chain_25"), std::string::npos);
    EXPECT_NE(run.process.standard_error.find("profile.pb.gz"), std::string::npos);
    EXPECT_TRUE(std::any_of(
        run.profile.comments.begin(), run.profile.comments.end(),
        [](const std::string& comment) { return comment.find("complete") != std::string::npos; }));
}

TEST(RecordWrites, TheSummaryForProgramsOnTheLastLineOfStandardOutput) {
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, {"-F", "499", "--json"},
               {"sh", "-c", "echo {; exec '" + fixture_path("known_chain.gcc.pie") + "' 1"});
    const std::string& output = run.process.standard_output;
    ASSERT_EQ(output.rfind("{\n", 0), 0U) << output;
    const auto json = nlohmann::json::parse(output.substr(output.rfind('\n', output.size() - 2)));
    EXPECT_EQ(json["samples"], run.profile.sample_count());
    EXPECT_EQ(json["ticks"]["emitted"], run.profile.sample_count());
    EXPECT_EQ(json["files"][0]["path"], (directory / "profile.pb.gz").string());
    EXPECT_EQ(run.process.standard_error.find("Recorded"), std::string::npos);
}

TEST(RecordWrites, PeriodAndFrequencyThatAgree) {
    const TemporaryDirectory directory;
    const RecordedRun run = record(directory, {"-F", "250"}, {"true"});
    EXPECT_EQ(run.profile.period, 1'000'000'000U / 250);
}

// Root's umask is often 077, and then the profile would be root's alone.
TEST(RecordWrites, FilesReadableByEverybodyWhateverTheUmask) {
    const TemporaryDirectory directory;
    const std::string in_directory = "umask 077; cd \"$1\"; shift; exec \"$@\"";
    const FinishedProcess run =
        run_process({"sh", "-c", in_directory, "sh", directory.path(), program_path(), "record",
                     "-o", "profile.pb.gz", "-o", "profile.folded", "--", "true"});
    EXPECT_EQ(run.exit_status, 0) << run.standard_error;
    for (const char* name : {"profile.pb.gz", "profile.folded"})
        EXPECT_EQ(status_of(directory / name).st_mode & 07777U, 0644U) << name;
}

TEST(RecordWrites, NothingButTheFilesAskedFor) {
    const TemporaryDirectory directory;
    record(directory, {}, {"true"});
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory.path()))
        names.push_back(entry.path().filename());
    EXPECT_EQ(names, std::vector<std::string>{"profile.pb.gz"});
}

TEST(RecordWrites, AnOlderFileAside) {
    const TemporaryDirectory directory;
    record(directory, {"-F", "99"}, {"true"});
    const std::string first = read_whole_file(directory / "profile.pb.gz");
    record(directory, {"-F", "499"}, {fixture_path("known_chain.gcc.pie"), "0.5"});
    EXPECT_EQ(read_whole_file(directory / "profile.pb.gz.old"), first);
    EXPECT_NE(read_whole_file(directory / "profile.pb.gz"), first);
}

TEST(RecordWrites, ProfileInTheCurrentDirectoryUnlessToldOtherwise) {
    const TemporaryDirectory directory;
    const FinishedProcess run =
        run_process({"env", "-C", directory.path(), program_path(), "record", "--", "true"});
    EXPECT_EQ(run.exit_status, 0) << run.standard_error;
    expect_every_tick_accounted_for(read_pprof(directory / "profile.pb.gz"));
}

TEST(RecordWrites, FilesThatBelongToTheUserBehindSudo) {
    const TemporaryDirectory directory;
    const FinishedProcess run =
        run_process({program_path(), "record", "-o", directory / "profile.pb.gz", "-o",
                     directory / "profile.folded", "--", "true"},
                    {{"SUDO_UID", "65534"}, {"SUDO_GID", "65533"}, {"SUDO_USER", "nobody"}});
    EXPECT_EQ(run.exit_status, 0) << run.standard_error;
    for (const char* name : {"profile.pb.gz", "profile.folded"}) {
        EXPECT_EQ(status_of(directory / name).st_uid, 65534U) << name;
        EXPECT_EQ(status_of(directory / name).st_gid, 65533U) << name;
    }
}

}  // namespace
}  // namespace bobbin::test
