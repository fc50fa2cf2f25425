// SPDX-License-Identifier: Apache-2.0
#include "output/read_profile.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"
#include "profile/gzip.h"
#include "profile/pprof.h"
#include "profile/speedscope.h"
#include "support/temporary_directory.h"

namespace bobbin::output {
namespace {

using test::put_file;
using test::TemporaryDirectory;
using testing::HasSubstr;
using testing::StartsWith;

symbolize::NamedProfile profile_named(const std::string& comm) {
    symbolize::NamedProfile profile;
    symbolize::NamedStack stack;
    stack.labels.comm = comm;
    stack.count = 3;
    stack.value = 30;
    profile.stacks.push_back(stack);
    profile.sample_count = 3;
    return profile;
}

class ReadProfile : public testing::Test {
protected:
    // The comm of the first stack and its count, or why the file cannot be read.
    std::string read(const std::string& bytes, std::string_view value = {}) {
        const std::string path = directory_.write("x", bytes);
        const auto profile = read_profile(path, value);
        if (!profile) return profile.error().message().substr(path.size() + 2);
        if (profile->stacks.empty()) return "empty";
        return profile->stacks[0].labels.comm + " " + std::to_string(profile->stacks[0].count) +
               " " + profile->value_type.name;
    }
    TemporaryDirectory directory_;
};

constexpr const char* kPerfScript = "sh 1 5.0: 7 cycles: \n\t 10 f (x)\n\n";

TEST_F(ReadProfile, KnowsFormatsByTheirContent) {
    EXPECT_EQ(read(*profile::encode_pprof(profile_named("a"))), "a 3 cpu");
    EXPECT_EQ(read(profile::encode_pprof_uncompressed(profile_named("a"))), "a 3 cpu");
    EXPECT_EQ(read("a;f 3\n"), "a 3 samples");
    EXPECT_EQ(read(*profile::gzip("a;f 3\n")), "a 3 samples");
    EXPECT_EQ(read(kPerfScript), "sh 1 cycles");
    EXPECT_EQ(read("\n \n" + std::string(kPerfScript)), "sh 1 cycles");
    EXPECT_EQ(read(profile::encode_speedscope(profile_named("a"))), "a 1 cpu");
}

TEST_F(ReadProfile, TakesTheValueThatIsNamed) {
    EXPECT_EQ(read(*profile::encode_pprof(profile_named("a")), "samples"), "a 3 samples");
    EXPECT_EQ(read("a;f 3\n", "samples"), "a 3 samples");
    EXPECT_EQ(read(kPerfScript, "cycles"), "sh 1 cycles");
    EXPECT_EQ(read(kPerfScript, "samples"), "sh 1 samples");
    for (const char* bytes : {"a;f 3\n", kPerfScript})
        EXPECT_THAT(read(bytes, "x"), HasSubstr("there are:"));
    EXPECT_THAT(read(kPerfScript, "cpu"), HasSubstr("there are: samples cycles"));
}

TEST_F(ReadProfile, SaysWhatIsWrong) {
    EXPECT_THAT(read("a;f 3\nwhat\n"), StartsWith("line 2: expected a folded stack"));
    EXPECT_THAT(read(std::string(kPerfScript) + "a;f 3\n"),
                StartsWith("line 4: expected a sample"));
    EXPECT_THAT(read("{}"), HasSubstr("not speedscope's"));
    EXPECT_THAT(read("PERFILE2\x68\0\0\0"), HasSubstr("perf script -i"));
    EXPECT_THAT(read("\x7f"
                     "ELF\2\1\1"),
                HasSubstr("not a pprof profile"));
    EXPECT_THAT(read(" \n"), HasSubstr("nothing in it"));
    EXPECT_THAT(read(""), HasSubstr("no sample type"));
}

TEST_F(ReadProfile, NamesTheFileAndItsError) {
    const std::string path = directory_ / "absent";
    const auto absent = read_profile(path);
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().message(), path + ": No such file or directory");
    const auto folder = read_profile(directory_.path());
    ASSERT_FALSE(folder);
    EXPECT_THAT(folder.error().message(), HasSubstr("Is a directory"));
}

TEST_F(ReadProfile, ReadsStandardInput) {
    put_file(directory_ / "x", "a;f 3\n");
    const UniqueFd saved(::dup(STDIN_FILENO));
    const UniqueFd file(::open((directory_ / "x").c_str(), O_RDONLY));
    ::dup2(file.get(), STDIN_FILENO);
    const auto profile = read_profile("-");
    ::dup2(saved.get(), STDIN_FILENO);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->sample_count, 3U);
}

}  // namespace
}  // namespace bobbin::output
