// SPDX-License-Identifier: Apache-2.0
#include "cli/record_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bobbin::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// 50,000 ticks: 47,301 samples, 12 lost, the rest idle. Complete: 40,000 + 5,000 + 1,301 = 46,301.
RecordSummary full_summary() {
    RecordSummary summary;
    summary.duration = 30s;
    summary.frequency_hz = 99;
    summary.cpu_count = 16;
    summary.process_count = 412;
    summary.sample_count = 47'301;
    summary.by_tick_outcome[abi::TICK_EMITTED] = 47'301;
    summary.by_tick_outcome[abi::TICK_RING_FULL] = 9;
    summary.by_tick_outcome[abi::TICK_NO_STATE] = 2;
    summary.by_tick_outcome[abi::TICK_WALK_NOT_RUN] = 1;
    summary.by_tick_outcome[abi::TICK_IDLE] = 2'687;
    summary.by_walk_end[abi::WALK_END_BOTTOM] = 40'000;
    summary.by_walk_end[abi::WALK_END_NO_USER_STACK] = 5'000;
    summary.by_walk_end[abi::WALK_END_NOT_ASKED] = 1'301;
    summary.by_walk_end[abi::WALK_END_TRUNCATED] = 200;
    summary.by_walk_end[abi::WALK_END_NO_CFI] = 800;
    summary.frame_count = 1'000'000;
    summary.named_frame_count = 941'000;
    summary.unnamed_modules = {{"libfoo.so", 0.042}, {"[anon]", 0.017}};
    summary.hottest = {{"nginx", "ngx_http_parse_request_line", 0.124},
                       {"postgres", "hash_search_with_hash_value", 0.071}};
    summary.own_cpu_time = 123ms;  // 0.41 % of 30 s
    summary.bpf_time = 60ms;       // 0.2 %
    summary.peak_rss_bytes = 63'000'000;
    summary.bpf_map_bytes = 118'000'000;
    summary.files = {{"out/my profile.pb.gz", 214'300}, {"x.html", 999}};
    return summary;
}

TEST(DescribeSummary, SaysWhatWasRecorded) {
    EXPECT_THAT(
        describe(full_summary()),
        ElementsAre(
            "Recorded 30.0s at 99 Hz on 16 CPUs: 47,301 samples, 12 lost (<0.1 %), 412 processes",
            // 46,301 / 47,301 = 97.886 %; 800 = 1.691 %; 200 = 0.423 %
            "Stacks   97.9 % complete · 1.7 % code without unwind information and without frame "
            "pointer · 0.4 % deeper than 1,024 frames",
            "Symbols  94.1 % named · no symbols: libfoo.so 4.2 %, [anon] 1.7 % → bobbin explain "
            "'out/my profile.pb.gz'",
            "Top      12.4 % nginx ngx_http_parse_request_line · 7.1 % postgres "
            "hash_search_with_hash_value",
            "Cost     0.4 % of one CPU in bobbin, 0.2 % in the kernel's sampling · 63.0 MB memory, "
            "118.0 MB BPF maps",
            "Wrote    out/my profile.pb.gz (214.3 kB) · x.html (999 B)",
            "Look     go tool pprof -http=: 'out/my profile.pb.gz' · xdg-open x.html"));
}

TEST(DescribeSummary, CountsOneThingInTheSingular) {
    RecordSummary summary;
    summary.duration = 1s;
    summary.frequency_hz = 1;
    summary.cpu_count = 1;
    summary.process_count = 1;
    summary.sample_count = 1;
    summary.by_walk_end[abi::WALK_END_BOTTOM] = 1;
    const std::vector<std::string> lines = describe(summary);
    EXPECT_EQ(lines.at(0), "Recorded 1.0s at 1 Hz on 1 CPU: 1 sample, 0 lost, 1 process");
    EXPECT_EQ(lines.at(1), "Stacks   100.0 % complete");
}

// One sample in 100,000 must not hide behind rounding.
TEST(DescribeSummary, DoesNotRoundASmallLossAway) {
    RecordSummary summary;
    summary.sample_count = 100'000;
    summary.by_walk_end[abi::WALK_END_BOTTOM] = 99'999;
    summary.by_walk_end[abi::WALK_END_IN_EXECVE] = 1;
    EXPECT_EQ(describe(summary).at(1),
              "Stacks   >99.9 % complete · <0.1 % the process was inside execve");
}

TEST(DescribeSummary, SaysWhereTheTicksWentWhenThereAreNoSamples) {
    RecordSummary summary;
    summary.duration = 10s;
    summary.frequency_hz = 99;
    summary.cpu_count = 2;
    summary.by_tick_outcome[abi::TICK_IDLE] = 80;
    summary.by_tick_outcome[abi::TICK_NOT_A_TARGET] = 1'900;
    const std::vector<std::string> lines = describe(summary);
    EXPECT_EQ(lines.at(0), "Recorded 10.0s at 99 Hz on 2 CPUs: 0 samples, 0 lost, 0 processes");
    EXPECT_EQ(lines.at(1),
              "Stacks   no samples: 1,900 ticks: not of the processes asked for · 80 ticks: the "
              "CPU was idle");
    EXPECT_THAT(lines, Not(Contains(StartsWith("Symbols"))));
    EXPECT_THAT(lines, Not(Contains(StartsWith("Top"))));
}

TEST(DescribeSummary, HoldsForARecordingOfNothing) {
    EXPECT_THAT(describe(RecordSummary{}),
                ElementsAre("Recorded 0ms at 0 Hz on 0 CPUs: 0 samples, 0 lost, 0 processes",
                            "Stacks   no samples: no CPU was interrupted",
                            "Cost     0.0 % of one CPU in bobbin, 0.0 % in the kernel's sampling · "
                            "0 B memory, 0 B BPF maps"));
}

TEST(DescribeSummary, SaysWhatNamesHadToDoWithout) {
    RecordSummary summary;
    summary.name_losses = {"/opt/a\x1b[31m: no names: its reader died", "/opt/b: no .dwo files"};
    const std::vector<std::string> lines = describe(summary);
    EXPECT_THAT(lines, Contains(AllOf(StartsWith("Names    /opt/a"), Not(HasSubstr("\x1b")))));
    EXPECT_THAT(lines, Contains("         /opt/b: no .dwo files"));
}

TEST(DescribeSummary, ShowsAtMostFiveRefusedFiles) {
    RecordSummary summary;
    for (int i = 0; i < 7; ++i) {
        summary.refused_files.push_back({"/opt/lib" + std::to_string(i) + ".so", "no .eh_frame"});
    }
    const std::vector<std::string> lines = describe(summary);
    EXPECT_THAT(lines, Contains("Refused  /opt/lib0.so: no .eh_frame"));
    EXPECT_THAT(lines, Contains("         /opt/lib4.so: no .eh_frame"));
    EXPECT_THAT(lines, Not(Contains(HasSubstr("lib5"))));
    EXPECT_EQ(lines.back(), "         2 more files");
}

TEST(DescribeSummary, SaysWhichFilesWereLostAndWhatThatMeans) {
    EXPECT_THAT(describe(full_summary()), Not(Contains(StartsWith("Lost"))));
    RecordSummary summary = full_summary();
    const auto count_of = [&summary](executable::LostReason reason) -> std::uint64_t& {
        return summary.lost_files.at(static_cast<std::size_t>(reason));
    };
    count_of(executable::LostReason::kGone) = 1'200;
    EXPECT_THAT(describe(summary),
                Contains("Lost     1,200 files: gone before it could be opened (1,200) · stacks "
                         "that met them may end there"));
    count_of(executable::LostReason::kTooSlow) = 3;
    summary.announcements_lost = 1;
    EXPECT_THAT(describe(summary),
                Contains("Lost     1,203 files: gone before it could be opened (1,200), its file "
                         "system did not answer in time (3) · 1 file noticed late, too many were "
                         "new at once · stacks that met them may end there"));
    summary.lost_files = {};
    EXPECT_THAT(describe(summary),
                Contains("Lost     1 file noticed late, too many were new at once · stacks that "
                         "met them may end there"));
}

TEST(DescribeSummary, ShowsAtMostThreeUnnamedModules) {
    RecordSummary summary = full_summary();
    summary.unnamed_modules = {{"a", 0.04}, {"b", 0.03}, {"c", 0.02}, {"d", 0.01}, {"e", 0.01}};
    EXPECT_THAT(describe(summary).at(2),
                HasSubstr("no symbols: a 4.0 %, b 3.0 %, c 2.0 % and 2 more"));
}

TEST(DescribeSummary, NamesTheCommandForTheModuleThatLacksMost) {
    RecordSummary summary = full_summary();
    summary.unnamed_modules = {{"libc.so.6", 0.04, "sudo apt install libc6-dbg"}, {"b", 0.03, ""}};
    EXPECT_THAT(describe(summary).at(2), testing::EndsWith(" → sudo apt install libc6-dbg"));
    // No file that could be asked later.
    summary.unnamed_modules = {{"b", 0.03, ""}};
    summary.files = {{"-", 7}, {"x.html", 999}};
    EXPECT_THAT(describe(summary).at(2), testing::EndsWith("no symbols: b 3.0 %"));
}

TEST(DescribeSummary, OffersPprofOnlyForAPprofFile) {
    RecordSummary summary = full_summary();
    summary.files = {{"x.folded", 5}, {"-", 7}};
    EXPECT_THAT(describe(summary), Not(Contains(HasSubstr("go tool pprof"))));
    summary.files = {};
    EXPECT_THAT(describe(summary), Not(Contains(StartsWith("Wrote"))));
}

// Function, process and file names come from whoever was profiled.
TEST(DescribeSummary, EscapesForeignNames) {
    RecordSummary summary = full_summary();
    summary.hottest = {{"a\x1b]0;x\x07", "b\nc", 0.5}};
    summary.unnamed_modules = {{"\x1b[2J", 0.5}};
    summary.refused_files = {{"/tmp/\r", "bad \x9"}};
    summary.files = {{"p\n.pb.gz", 1}};
    for (const std::string& line : describe(summary)) {
        EXPECT_EQ(line.find_first_of("\x1b\n\r\x07\t"), std::string::npos) << line;
    }
}

TEST(DescribeProgress, IsOneShortLine) {
    EXPECT_EQ(describe(Progress{.elapsed = 12400ms,
                                .sample_count = 4'812,
                                .complete_count = 4'639,  // 96.405 %
                                .lost_count = 3,
                                .process_count = 37}),
              "12s · 4,812 samples · 37 processes · 96.4 % complete · 3 lost");
    EXPECT_EQ(describe(Progress{}), "0s · 0 samples · 0 processes · 0 lost");
    EXPECT_THAT(describe(Progress{.elapsed = 65s}), StartsWith("1m05s · "));
}

TEST(Lost, IsWhatShouldHaveBecomeASample) {
    EXPECT_EQ(lost_ticks(full_summary().by_tick_outcome), 12U);
    EXPECT_EQ(complete_stacks(full_summary().by_walk_end), 46'301U);
}

TEST(SummaryAsJson, SaysTheSameForPrograms) {
    RecordSummary summary = full_summary();
    summary.refused_files = {{"/bin/\xff", "not an ELF file"}};
    const std::string text = to_json(summary);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["duration_ns"], 30'000'000'000);
    EXPECT_EQ(json["samples"], 47'301);
    EXPECT_EQ(json["complete"], 46'301);
    EXPECT_EQ(json["lost"], 12);
    EXPECT_EQ(json["ticks"]["emitted"], 47'301);
    EXPECT_EQ(json["ticks"]["idle"], 2'687);
    EXPECT_EQ(json["ticks"].size(), std::size_t{abi::TICK_OUTCOME_COUNT});
    EXPECT_EQ(json["stack_ends"]["no_cfi"], 800);
    EXPECT_FALSE(json["stack_ends"].contains("in_execve"));
    EXPECT_EQ(json["hottest"][0]["function"], "ngx_http_parse_request_line");
    EXPECT_EQ(json["refused_files"][0]["reason"], "not an ELF file");
    EXPECT_EQ(json["files"][1]["size_bytes"], 999);
}

}  // namespace
}  // namespace bobbin::cli
