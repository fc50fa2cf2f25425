// SPDX-License-Identifier: Apache-2.0
// Names of a C++ program in a profile as others read it: how they are written, what is inlined, and
// what a server of debug files adds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "golden/debuginfod_servers.h"
#include "kernel/sampled_fixture.h"
#include "support/profile_readers.h"

namespace bobbin::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// step() is inlined into grind() and does all of the work.
constexpr const char* kSource =
    "#include <ctime>\n"
    "template <class T> struct Mill {\n"
    "    static inline __attribute__((always_inline)) void step() {\n"
    "        for (volatile T i = 0; i < 1000000; i = i + 1) {}\n"
    "    }\n"
    "    __attribute__((noipa)) void grind(T) { step(); asm volatile(\"\"); }\n"
    "};\n"
    "int main() { while (clock() < 2 * CLOCKS_PER_SEC) Mill<long>().grind(3); }\n";

class ProgramNames : public testing::Test {
protected:
    ProgramNames() {
        std::filesystem::create_directory(directory_ / "served");
        std::ofstream(directory_ / "mill.cpp") << kSource;
        const FinishedProcess built =
            run_process({"/bin/sh", "-e", "-c",
                         "cd \"$0\"; c++ -O2 -g -o mill mill.cpp; objcopy --only-keep-debug mill "
                         "served/mill.debug; strip -g -o stripped mill",
                         directory_.path().string()});
        EXPECT_EQ(built.exit_status, 0) << built.standard_error;
    }

    [[nodiscard]] std::vector<std::string> command(const std::string& program,
                                                   const std::vector<std::string>& options,
                                                   const std::string& urls = "") const {
        std::vector<std::string> words = {
            "env",
            "DEBUGINFOD_URLS=" + urls,
            "DEBUGINFOD_CACHE_PATH=" + (directory_ / "files").string(),
            program_path(),
            "record",
            "-F",
            "499",
            "-o",
            output().string()};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {"--", (directory_ / program).string()});
        return words;
    }
    [[nodiscard]] std::filesystem::path output() const { return directory_ / "profile.pb.gz"; }

    // What `go tool pprof -raw` says of a recording.
    [[nodiscard]] std::string raw_of(const std::string& program,
                                     const std::vector<std::string>& options,
                                     const std::string& urls = "") const {
        recorded_by(command(program, options, urls), output());
        return run_pprof("-raw", output());
    }

    TemporaryDirectory directory_;
};

TEST_F(ProgramNames, AreWrittenAsAskedFor) {
    const std::string simplified = raw_of("mill", {});
    EXPECT_THAT(simplified, HasSubstr(" Mill<long>::grind "));
    EXPECT_THAT(simplified, HasSubstr("(_ZN4MillIlE5grindEl)"))
        << "the symbol's name is there, too";
    EXPECT_THAT(raw_of("mill", {"--demangle", "full"}), HasSubstr(" Mill<long>::grind(long) "));
    const std::string none = raw_of("mill", {"--demangle=none"});
    EXPECT_THAT(none, HasSubstr(" _ZN4MillIlE5grindEl "));
    EXPECT_THAT(none, Not(HasSubstr("Mill<long>")));
}

// In -raw a location's further lines have no address.
TEST_F(ProgramNames, HaveWhatIsInlinedAsSeveralLinesOfOneLocation) {
    EXPECT_THAT(
        raw_of("mill", {}),
        ContainsRegex("[0-9]+: 0x[0-9a-f]+ M=[0-9]+ Mill<long>::step [^\n]*/mill\\.cpp:4[^\n]*\n"
                      " +Mill<long>::grind [^\n]*/mill\\.cpp:6"));
}

TEST_F(ProgramNames, HaveLinesFromAServer) {
    const Debuginfod server(directory_ / "served");
    const std::string line = "Mill<long>::step [^\n]*/mill\\.cpp:4";
    EXPECT_THAT(raw_of("stripped", {}, server.url()), Not(ContainsRegex(line))) << "not asked for";
    EXPECT_THAT(raw_of("stripped", {"--debuginfod"}, server.url()), ContainsRegex(line));
}

TEST_F(ProgramNames, AreSkippedByASecondInterruptWhileAServerIsSilent) {
    const FakeServer server("");
    ChildProcess bobbin(command("stripped", {"--debuginfod"}, server.url()));
    server.wait_for_connection();
    bobbin.send_signal(SIGINT);
    const FinishedProcess finished = bobbin.wait();
    EXPECT_EQ(finished.exit_status, 0) << finished.standard_error;
    EXPECT_THAT(run_pprof("-raw", output()), ContainsRegex(" stripped\\+0x[0-9a-f]+ "));
    EXPECT_EQ(server.connection_count(), 1U);
}

}  // namespace
}  // namespace bobbin::test
