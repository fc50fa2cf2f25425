// SPDX-License-Identifier: Apache-2.0
#include "profile/perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "golden/pprof_example.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace bobbin {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// By protobuf's own compiler, blanks squeezed. Numbers of fields instead of names ("raw") are those
// of protos/perfetto/trace of Perfetto, not those of our copy of it.
std::string decode(const std::string& trace, const std::string& how) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "x.pftrace";
    std::ofstream(path, std::ios::binary) << trace;
    const test::FinishedProcess protoc =
        test::run_process({"/bin/sh", "-c", "exec \"$0\" -I \"$1\" " + how + " < \"$2\"",
                           BOBBIN_PROTOC, BOBBIN_PROTO_DIR, path});
    EXPECT_EQ(protoc.exit_status, 0) << protoc.standard_error;
    const std::string single =
        std::regex_replace(protoc.standard_output, std::regex("[ \t]+"), " ");
    return std::regex_replace(single, std::regex("(^|\n) | (?=\n|$)"), "$1");
}

std::string raw(const symbolize::NamedProfile& profile) {
    const auto trace = profile::encode_perfetto(profile);
    EXPECT_TRUE(trace) << trace.error().message();
    return decode(*trace, "--decode_raw");
}

// Each "TracePacket.perf_sample" (66): "time_ms cpu pid tid callstack mode".
std::vector<std::string> samples_in(const std::string& text) {
    const std::regex sample(
        "\n8: ([0-9]+)\n10: 1\n13: 2\n66 \\{\n1: (.*)\n2: (.*)\n3: (.*)\n4: (.*)\n5: (.*)\n\\}");
    std::vector<std::string> lines;
    for (std::sregex_iterator found(text.begin(), text.end(), sample), end; found != end; ++found) {
        std::string line = std::to_string((std::stoull((*found)[1]) - 1'000'000'000) / 1'000'000);
        for (std::size_t i = 2; i < found->size(); ++i) line += " " + (*found)[i].str();
        lines.push_back(line);
    }
    return lines;
}

// What pprof_example.h says. Without times: each thread's samples of 10 ms one behind the other.
TEST(Perfetto, HasEachSampleWithItsThreadAndStack) {
    EXPECT_THAT(samples_in(raw(test::example_profile())),
                ElementsAre("10 2 10 10 2 2", "20 2 10 10 2 2", "30 2 10 10 2 2", "40 2 10 10 2 2",
                            "50 2 10 10 2 2", "10 0 10 11 1 1", "20 0 10 11 1 1", "30 0 10 11 1 1",
                            "10 0 20 20 3 2", "20 0 20 20 3 2"));
}

TEST(Perfetto, HasSamplesAtTheirTimes) {
    symbolize::NamedProfile profile = test::example_profile();
    profile.time_bucket = std::chrono::milliseconds(100);
    profile.stacks.resize(1);
    profile.stacks[0].times = {{0, 1}, {3, 2}};
    const std::string text = raw(profile);
    EXPECT_THAT(samples_in(text),
                ElementsAre("100 0 10 11 1 1", "350 0 10 11 1 1", "400 0 10 11 1 1"));
    EXPECT_THAT(text, Not(HasSubstr("is not known")));
}

TEST(Perfetto, InternsStacksRootFirst) {
    const std::string text = raw(test::example_profile());
    // InternedData.callstacks (7): main 4, run 3, parse inlined into it 2, vfs_read 1.
    EXPECT_THAT(text, HasSubstr("\n7 {\n1: 1\n2: 4\n2: 3\n2: 2\n2: 1\n}"));
    EXPECT_THAT(text, HasSubstr("\n7 {\n1: 3\n2: 4\n2: 5\n}"));
    // Frame (6): name, mapping, address, source path, line. parse is the 2nd name, run the 3rd.
    EXPECT_THAT(text, HasSubstr("\n6 {\n1: 2\n2: 2\n3: 2\n4: 4203333\n5: 1\n6: 7\n}"));
    EXPECT_THAT(text, HasSubstr("\n6 {\n1: 3\n2: 3\n3: 2\n4: 4203333\n5: 1\n6: 21\n}"));
    // The kernel's are counted from its first address, 0x123 from there.
    EXPECT_THAT(text, HasSubstr("\n6 {\n1: 1\n2: 1\n3: 1\n4: 291\n}"));
    // InternedString (5, 17, 18).
    EXPECT_THAT(text, HasSubstr("\n5 {\n1: 2\n2: \"parse(int)\"\n}"));
    EXPECT_THAT(text, HasSubstr("\n17 {\n1: 2\n2: \"/nonexistent/app\"\n}"));
    EXPECT_THAT(text, HasSubstr("\n18 {\n1: 1\n2: \"/src/app.cpp\"\n}"));
    // Mapping (19): build id 2, start 4, end 5, path 7, offset 8.
    EXPECT_THAT(text, HasSubstr("\n19 {\n1: 2\n2: 2\n4: 4202496\n5: 4218880\n7: 2\n8: 4096\n}"));
}

TEST(Perfetto, NamesProcessesAndThreads) {
    const std::string text = raw(test::example_profile());
    // ProcessTree (2): processes (1) pid and command line, threads (2) tid, name and process.
    EXPECT_THAT(text, HasSubstr("\n1 {\n1: 10\n3: \"app\"\n}"));
    EXPECT_THAT(text, HasSubstr("\n2 {\n1: 11\n2: \"reader\"\n3: 10\n}"));
    EXPECT_THAT(text, HasSubstr("\n2 {\n1: 20\n2: \"app\"\n3: 20\n}"));
}

TEST(Perfetto, SaysWhenTheRecordingBeganAndWhatThereIsToSay) {
    const std::string text = raw(test::example_profile());
    // ClockSnapshot (6): CLOCK_BOOTTIME is 6, CLOCK_REALTIME 1; 2026-03-04 05:06:00 UTC.
    EXPECT_THAT(text, HasSubstr("\n1 {\n1: 6\n2: 1000000000\n}"));
    EXPECT_THAT(text, HasSubstr("\n1 {\n1: 1\n2: 1772600760000000000\n}"));
    // TrackEvent (11): TYPE_INSTANT is 3 of field 9; name is 23.
    EXPECT_THAT(text, HasSubstr("11 {\n9: 3\n11: 1\n23: \"10 samples, 0 lost\"\n}"));
    EXPECT_THAT(text, HasSubstr("23: \"when samples came is not known"));
    // TracePacketDefaults (59), perf_sample_defaults (12), timebase (1): SW_CPU_CLOCK is 1.
    EXPECT_THAT(text, HasSubstr("59 {\n12 {\n1 {\n1: 10000000\n4: 1\n}\n}\n}"));
}

TEST(Perfetto, HoldsNothingThatItsSchemaDoesNotKnow) {
    const auto trace = profile::encode_perfetto(test::example_profile());
    ASSERT_TRUE(trace);
    EXPECT_THAT(decode(*trace, "--decode=perfetto.protos.Trace perfetto_trace.proto"),
                Not(ContainsRegex("\n *[0-9]+[:{ ]")));
}

TEST(Perfetto, LetsASampleStandForSeveralWhereThereAreTooMany) {
    const auto trace = profile::encode_perfetto(test::example_profile(), 5);
    ASSERT_TRUE(trace);
    const std::string text = decode(*trace, "--decode_raw");
    // 5, 3 and 2 of 10, each standing for two; what is left of a stack goes to the next.
    EXPECT_EQ(samples_in(text).size(), 4U);
    EXPECT_THAT(text, HasSubstr("each sample here stands for 2"));
}

TEST(Perfetto, TakesAnyBytesAndNothing) {
    symbolize::NamedProfile profile = test::example_profile();
    profile.functions[0].name = "bad\xff";
    profile.stacks[0].labels.comm = "\xc3";
    profile.stacks[1].locations.clear();
    EXPECT_EQ(samples_in(raw(profile)).size(), 10U);
    EXPECT_TRUE(samples_in(raw({})).empty());
}

}  // namespace
}  // namespace bobbin
