// SPDX-License-Identifier: Apache-2.0
// `bobbin convert` from one end to the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Convert : public testing::Test {
protected:
    FinishedProcess convert(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {program_path(), "convert"});
        return run_process(arguments);
    }
    std::string put(const std::string& name, const std::string& text) {
        std::ofstream(directory_ / name, std::ios::binary) << text;
        return directory_ / name;
    }
    TemporaryDirectory directory_;
};

TEST_F(Convert, WritesEveryFormatThatTheEndingsName) {
    const std::string in = put("in.folded", "app;main;work 42\napp;main 8\n");
    std::vector<std::string> arguments = {in};
    const std::vector<std::string> names = {"x.html",           "x.pb.gz",           "x.folded",
                                            "x.firefox.json",   "x.firefox.json.gz", "x.pftrace",
                                            "x.speedscope.json"};
    for (const std::string& name : names) {
        arguments.insert(arguments.end(), {"-o", directory_ / name});
    }
    const FinishedProcess run = convert(arguments);
    EXPECT_EQ(run.exit_status, 0) << run.standard_error;
    EXPECT_EQ(run.standard_output + run.standard_error, "");
    for (const std::string& name : names) {
        EXPECT_GT(std::filesystem::file_size(directory_ / name), 0U) << name;
    }
    EXPECT_EQ(read_pprof(directory_ / "x.pb.gz").sample_count(), 50U);
    EXPECT_EQ(read_whole_file(directory_ / "x.folded"), "app;main 8\napp;main;work 42\n");
}

TEST_F(Convert, ReadsStandardInputAndWritesStandardOutput) {
    const std::string in = put("in", "sh 7 1.5: 100 cycles: \n\t 10 f+0x1 (/bin/sh)\n\n");
    const std::string out = directory_ / "out.pb.gz";
    const FinishedProcess run = run_process(
        {"/bin/sh", "-c", "\"$0\" convert - -o - < \"$1\" > \"$2\"", program_path(), in, out});
    EXPECT_EQ(run.exit_status, 0) << run.standard_error;
    const ProfileText profile = read_pprof(out);
    EXPECT_EQ(profile.sample_types, (std::vector<std::string>{"samples/count", "cycles/count"}));
    ASSERT_EQ(profile.stacks.size(), 1U);
    EXPECT_EQ(profile.stacks[0].label("comm"), "sh");
    EXPECT_EQ(profile.stacks[0].frames.at(0).function, "f");
}

TEST_F(Convert, TellsInThreeLinesWhatItCannotRead) {
    const FinishedProcess run =
        convert({put("bad", "app;main 1\nwhat is this\n"), "-o", directory_ / "x.html"});
    EXPECT_EQ(run.exit_status, 1);
    EXPECT_THAT(run.standard_error, StartsWith("bobbin: cannot read a profile: "));
    EXPECT_THAT(run.standard_error, HasSubstr("line 2: expected a folded stack"));
    EXPECT_THAT(run.standard_error, HasSubstr("\nrun:  "));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "x.html"));
}

TEST_F(Convert, RefusesWhatItIsNotToldWell) {
    const std::string in = put("in.folded", "app;main 1\n");
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{},
          {in},
          {in, in, "-o", directory_ / "x.html"},
          {in, "-o", directory_ / "x.txt"},
          {in, "-o", directory_ / "x.html", "-o", directory_ / "x.html"}}) {
        const FinishedProcess run = convert(arguments);
        EXPECT_EQ(run.exit_status, 2) << run.standard_error;
        EXPECT_THAT(run.standard_error, HasSubstr("run:  bobbin convert --help"));
    }
}

}  // namespace
}  // namespace bobbin::test
