// SPDX-License-Identifier: Apache-2.0
#include "profile/pprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "golden/go_pprof.h"
#include "golden/pprof_example.h"
#include "output/output_file.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace bobbin {
namespace {

using test::example_profile;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Runs of blanks as one, none at the ends of lines: columns move with the width of what they hold.
std::string squeeze(const std::string& text) {
    const std::string single = std::regex_replace(text, std::regex("[ \t]+"), " ");
    return std::regex_replace(single, std::regex("(^|\n) | (?=\n|$)"), "$1");
}

class Pprof : public testing::Test {
protected:
    // `go tool pprof OPTIONS FILE` of a profile, as recordings write it; what it prints, squeezed.
    std::string show(const symbolize::NamedProfile& profile,
                     const std::vector<std::string>& options) {
        const std::string path = directory_ / "x.pb.gz";
        const auto file = output::OutputFile::prepare(path);
        EXPECT_TRUE(file);
        EXPECT_TRUE(file && file->write(profile, std::nullopt));
        return squeeze(test::run_go_pprof(directory_.path(), options, path));
    }

    // The message as protobuf's own compiler prints it, with its text strings resolved by nobody.
    std::string decode(const symbolize::NamedProfile& profile) {
        const std::string path = directory_ / "x.pb";
        std::ofstream(path, std::ios::binary) << profile::encode_pprof_uncompressed(profile);
        const test::FinishedProcess protoc =
            test::run_process({"/bin/sh", "-c",
                               "exec \"$0\" -I \"$1\" --decode=perftools.profiles.Profile "
                               "profile.proto < \"$2\"",
                               BOBBIN_PROTOC, BOBBIN_PROTO_DIR, path});
        EXPECT_EQ(protoc.exit_status, 0) << protoc.standard_error;
        return squeeze(protoc.standard_output);
    }

    test::TemporaryDirectory directory_;
};

// What pprof_example.h says: parse is the leaf of 5 samples and in 3 more, each 10 ms.
TEST_F(Pprof, CountsTimeOfEachFunction) {
    const std::string top = show(example_profile(), {"-top"});
    EXPECT_THAT(top, HasSubstr("\nType: cpu\n"));
    EXPECT_THAT(top, HasSubstr("Duration: 2.50s, Total samples = 100ms ( 4.00%)\n"));
    EXPECT_THAT(top, HasSubstr("\n50ms 50.00% 50.00% 80ms 80.00% parse(int) (inline)\n"
                               "30ms 30.00% 80.00% 30ms 30.00% vfs_read\n"
                               "20ms 20.00% 100% 20ms 20.00% libx.so+0x2345\n"));
    EXPECT_THAT(top, HasSubstr("\n0 0% 100% 100ms 100% main\n"));
    EXPECT_THAT(top, HasSubstr("\n0 0% 100% 80ms 80.00% run"));
}

TEST_F(Pprof, CountsSamplesToo) {
    const std::string top = show(example_profile(), {"-top", "-sample_index=samples"});
    EXPECT_THAT(top, HasSubstr("Total samples = 10\n"));
    EXPECT_THAT(top, HasSubstr("\n5 50.00% 50.00% 8 80.00% parse(int) (inline)\n"));
}

TEST_F(Pprof, ShowsComments) {
    EXPECT_THAT(show(example_profile(), {"-top"}), HasSubstr("10 samples, 0 lost\nsecond line\n"));
}

TEST_F(Pprof, ShowsStacksLeafFirstWithInlinedFunctions) {
    const std::string traces = show(example_profile(), {"-traces"});
    EXPECT_THAT(traces, HasSubstr("\n30ms vfs_read\nparse(int) (inline)\nrun\nmain\n--"));
    EXPECT_THAT(traces, HasSubstr("\n50ms parse(int) (inline)\nrun\nmain\n--"));
    EXPECT_THAT(traces, HasSubstr("\n20ms libx.so+0x2345\nmain\n--"));
}

TEST_F(Pprof, ShowsTheLabelsOfEachStack) {
    const std::string traces = show(example_profile(), {"-traces"});
    const std::string first = traces.substr(0, traces.find("30ms vfs_read"));
    for (const char* label :
         {"comm: app", "thread: reader", "unit: app.service", "cgroup: /system.slice/app.service",
          "container: c0ffee", "pid: 10", "tid: 11", "cpu: 0"}) {
        EXPECT_THAT(first, HasSubstr(std::string(label) + "\n"));
    }
    const std::size_t last_begin = traces.find("50ms parse");
    const std::string last = traces.substr(last_begin, traces.find("20ms libx") - last_begin);
    EXPECT_THAT(last, HasSubstr("pid: 20\n"));
    for (const char* label : {"thread:", "unit:", "cgroup:", "container:"}) {
        EXPECT_THAT(last, Not(HasSubstr(label)));
    }
}

// 0 is the number that readers of pprof take for "no label" unless it has a unit.
TEST_F(Pprof, FocusesOnProcessesAndOnCpu0) {
    EXPECT_THAT(show(example_profile(), {"-top", "-tagfocus=cpu=0"}),
                HasSubstr("nodes accounting for 50ms, 50.00% of 100ms total"));
    EXPECT_THAT(show(example_profile(), {"-top", "-tagfocus=pid=20"}),
                HasSubstr("nodes accounting for 20ms, 20.00% of 100ms total"));
    EXPECT_THAT(show(example_profile(), {"-top", "-tagfocus=unit=app.service"}),
                HasSubstr("nodes accounting for 30ms, 30.00% of 100ms total"));
}

TEST_F(Pprof, ListsMappingsWithWhatIsKnown) {
    const std::string raw = show(example_profile(), {"-raw"});
    EXPECT_THAT(raw, HasSubstr("PeriodType: cpu nanoseconds\nPeriod: 10000000\n"));
    EXPECT_THAT(raw, ContainsRegex("Time: 2026-03-04 05:06:00 "));
    EXPECT_THAT(raw, HasSubstr("\nsamples/count cpu/nanoseconds[dflt]\n3 30000000: 1 2 3\n"));
    EXPECT_THAT(raw, HasSubstr("0xffffffff81000000/0xffffffff82000000/0x0 [kernel] 4a5a9b0a [FN]"));
    EXPECT_THAT(raw, HasSubstr("0x402000/0x406000/0x1000 /nonexistent/app 0123abcd "
                               "[FN][FL][LN][IN]"));
    EXPECT_THAT(raw, HasSubstr("0x2000/0x3000/0x2000 /nonexistent/libx.so ef"));
}

// parse is inlined into run at the leaf of 5 samples and once below vfs_read.
TEST_F(Pprof, CountsInlinedFunctionsByLine) {
    const std::string top = show(example_profile(), {"-top", "-lines"});
    EXPECT_THAT(top,
                HasSubstr("\n50ms 50.00% 50.00% 80ms 80.00% parse(int) /src/app.cpp:7 (inline)\n"));
    EXPECT_THAT(top, HasSubstr("\n0 0% 100% 80ms 80.00% run /src/app.cpp:21"));
}

TEST_F(Pprof, ListsLocationsWithLines) {
    const std::string raw = show(example_profile(), {"-raw"});
    EXPECT_THAT(raw, HasSubstr("1: 0xffffffff81000123 M=1 vfs_read "));
    EXPECT_THAT(raw, ContainsRegex("2: 0x402345 M=2 parse\\(int\\) /src/app.cpp:7[: ].*_Z5parsei"));
    EXPECT_THAT(raw, HasSubstr("\nrun /src/app.cpp:21"));
    EXPECT_THAT(raw, HasSubstr("3: 0x403456 M=2 main /src/main.cpp:40"));
    EXPECT_THAT(raw, HasSubstr("4: 0x2345 M=3 libx.so+0x2345 "));
}

TEST_F(Pprof, AcceptsAProfileWithoutSamples) {
    EXPECT_THAT(show({}, {"-top"}), HasSubstr("nodes accounting for 0, 0% of 0 total"));
    EXPECT_THAT(show({}, {"-raw"}), HasSubstr("samples/count cpu/nanoseconds"));
}

TEST_F(Pprof, AcceptsStacksWithoutFrames) {
    symbolize::NamedProfile profile = example_profile();
    profile.stacks[1].locations.clear();
    EXPECT_THAT(show(profile, {"-top"}), HasSubstr("Total samples = 100ms"));
}

TEST_F(Pprof, AcceptsNamesOfAnyBytes) {
    symbolize::NamedProfile profile = example_profile();
    profile.functions[0].name =
        "bad\xFF"
        "name\x80";
    profile.stacks[0].labels.comm = "\xC3";
    EXPECT_THAT(show(profile, {"-top"}),
                HasSubstr("30ms 30.00% 80.00% 30ms 30.00% bad\xEF\xBF\xBDname\xEF\xBF\xBD\n"));
}

TEST_F(Pprof, HoldsDenseIdsAndNothingElse) {
    const std::string text = decode(example_profile());
    // A field that the schema does not know would be printed by its number.
    EXPECT_THAT(text, Not(ContainsRegex("\n *[0-9]+[:{ ]")));
    EXPECT_THAT(text, HasSubstr("sample {\nlocation_id: 1\nlocation_id: 2\nlocation_id: 3\n"
                                "value: 3\nvalue: 30000000\n"));
    EXPECT_THAT(text, ContainsRegex("mapping \\{\nid: 1\n"));
    EXPECT_THAT(text, ContainsRegex("mapping \\{\nid: 3\nmemory_start: 8192\n"));
    EXPECT_THAT(text, HasSubstr("location {\nid: 2\nmapping_id: 2\naddress: 4203333\n"
                                "line {\nfunction_id: 2\nline: 7\n}\n"
                                "line {\nfunction_id: 3\nline: 21\n}\n}\n"));
    EXPECT_THAT(text, ContainsRegex("function \\{\nid: 5\n"));
    EXPECT_THAT(text, HasSubstr("\nstring_table: \"\"\nstring_table: \"samples\"\n"));
    EXPECT_THAT(text, HasSubstr("time_nanos: 1772600760000000000\nduration_nanos: 2500000000\n"));
}

}  // namespace
}  // namespace bobbin
