// SPDX-License-Identifier: Apache-2.0
#include "profile/read_perf_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "profile/perf_script_lines.h"

namespace bobbin::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// As perf 6.1 prints `perf record -g` and, with -a, the CPU.
constexpr const char* kText =
    "sh 27153 50672.832260:    5000000 cpu-clock:pppH: \n"
    "\t          1750ce __strpbrk_sse42+0xbe (/usr/lib/x86_64-linux-gnu/libc.so.6)\n"
    "\t    563c0c7df530 [unknown] ([unknown])\n"
    "\n"
    "ls 27156/27157 [001] 50673.168007:    5000000 cpu-clock:pppH: \n"
    "\tffffffff816c3dbd vfs_getattr_nosec+0xd ([kernel.kallsyms])\n"
    "\t            aed2 [unknown] (/usr/bin/dash)\n"
    "\n";

symbolize::NamedProfile read(const std::string& text, std::string_view event = {}) {
    auto profile = read_perf_script(text, event);
    EXPECT_TRUE(profile) << profile.error().message();
    return profile ? std::move(*profile) : symbolize::NamedProfile{};
}

std::string error_of(const std::string& text, std::string_view event = {}) {
    const auto profile = read_perf_script(text, event);
    return profile ? "none" : profile.error().message();
}

// "name module", leaf first; "<" before what is inlined, k behind the kernel's.
std::vector<std::string> frames_of(const symbolize::NamedProfile& profile, std::size_t stack) {
    std::vector<std::string> frames;
    for (const std::uint32_t index : profile.stacks.at(stack).locations) {
        const symbolize::Location& location = profile.locations[index];
        for (std::size_t i = 0; i < location.lines.size(); ++i) {
            frames.push_back((i + 1 < location.lines.size() ? "<" : "") +
                             profile.functions[location.lines[i].function].name + " " +
                             profile.mappings[location.mapping].file +
                             (location.is_kernel ? " k" : ""));
        }
    }
    return frames;
}

TEST(ReadPerfScript, ReadsSamplesWithTheirFrames) {
    const symbolize::NamedProfile profile = read(kText);
    ASSERT_EQ(profile.stacks.size(), 2U);
    EXPECT_THAT(frames_of(profile, 0),
                ElementsAre("__strpbrk_sse42 /usr/lib/x86_64-linux-gnu/libc.so.6", "[unknown] "));
    EXPECT_THAT(frames_of(profile, 1),
                ElementsAre("vfs_getattr_nosec [kernel.kallsyms] k", "dash+0xaed2 /usr/bin/dash"));
    EXPECT_EQ(profile.locations[profile.stacks[0].locations[0]].address, 0x1750ceU);
    EXPECT_TRUE(profile.locations[profile.stacks[0].locations[0]].is_named);
    EXPECT_FALSE(profile.locations[profile.stacks[1].locations[1]].is_named);
}

TEST(ReadPerfScript, KnowsWhoRanWhereAndForHowLong) {
    const symbolize::NamedProfile profile = read(kText);
    EXPECT_EQ(profile.stacks[0].labels.comm, "sh");
    EXPECT_EQ(profile.stacks[0].labels.pid, 27153U);
    EXPECT_EQ(profile.stacks[1].labels.pid, 27156U);
    EXPECT_EQ(profile.stacks[1].labels.tid, 27157U);
    EXPECT_EQ(profile.stacks[1].labels.cpu, 1U);
    EXPECT_EQ(profile.stacks[0].value, 5'000'000U);
    EXPECT_EQ(profile.value_type, (symbolize::ValueType{"cpu", "nanoseconds"}));
    EXPECT_EQ(profile.period, std::chrono::milliseconds(5));
}

// 50673.168007 - 50672.832260 = 0.335747: the fourth span of 100 ms.
TEST(ReadPerfScript, KeepsTimes) {
    const symbolize::NamedProfile profile = read(kText);
    EXPECT_EQ(profile.time_bucket, std::chrono::milliseconds(100));
    EXPECT_EQ(profile.duration, std::chrono::microseconds(335747));
    EXPECT_EQ(profile.stacks[0].times, (aggregate::TimeCounts{{0, 1}}));
    EXPECT_EQ(profile.stacks[1].times, (aggregate::TimeCounts{{3, 1}}));
}

TEST(ReadPerfScript, AddsUpEqualStacks) {
    const symbolize::NamedProfile profile = read(std::string(kText) + kText);
    EXPECT_EQ(profile.stacks.size(), 2U);
    EXPECT_EQ(profile.stacks[0].count, 2U);
    EXPECT_EQ(profile.stacks[0].times, (aggregate::TimeCounts{{0, 2}}));
}

TEST(ReadPerfScript, TakesInlinedFunctionsForLinesOfTheirCaller) {
    const symbolize::NamedProfile profile = read(
        "a 1 1.000000: 1 cycles: \n\t  10 inner (inlined)\n\t  10 middle(int) (inlined)\n"
        "\t  10 outer(char const*) const+0x5 (/tmp/a b (deleted))\n");
    EXPECT_THAT(frames_of(profile, 0),
                ElementsAre("<inner /tmp/a b (deleted)", "<middle(int) /tmp/a b (deleted)",
                            "outer(char const*) const /tmp/a b (deleted)"));
}

// Without -g the frame stands in the line, and the name of the thread is moved to the right.
TEST(ReadPerfScript, ReadsSamplesOfOneLine) {
    const symbolize::NamedProfile profile = read(
        "            perf  1234 10.000001:     250000 cycles:  ffff8000 f+0x6 ([kernel])\n"
        "              sh  1235 10.000002:     250000 cycles:  10 g (/bin/sh)\n");
    ASSERT_EQ(profile.stacks.size(), 2U);
    EXPECT_EQ(profile.stacks[0].labels.comm, "perf");
    EXPECT_THAT(frames_of(profile, 0), ElementsAre("f [kernel] k"));
    EXPECT_THAT(frames_of(profile, 1), ElementsAre("g /bin/sh"));
    EXPECT_EQ(profile.value_type, (symbolize::ValueType{"cycles", "count"}));
    EXPECT_EQ(profile.stacks[0].value, 250'000U);
}

TEST(ReadPerfScript, ReadsOneOfSeveralEventsAndTellsOfTheOthers) {
    const std::string text =
        "a 1 1.0: 100 cycles: \n\t 10 f (x)\n\na 1 1.1: 7 instructions:u: \n\t 10 f (x)\n\n";
    const symbolize::NamedProfile first = read(text);
    EXPECT_EQ(first.value_type.name, "cycles");
    EXPECT_EQ(first.sample_count, 1U);
    EXPECT_THAT(first.comments, ElementsAre("1 samples of the event instructions are left out"));
    const symbolize::NamedProfile other = read(text, "instructions");
    EXPECT_EQ(other.stacks.at(0).value, 7U);
    EXPECT_THAT(error_of(text, "faults"), HasSubstr("there are: cycles instructions"));
}

TEST(ReadPerfScript, ReadsTracepointsWithWhatTheySay) {
    const symbolize::NamedProfile profile = read(
        "swapper     0 [003] 5.5: sched:sched_switch: prev_comm=swapper/3 ==> next_pid=7\n"
        "\tffffffff81000000 __schedule+0x1 ([kernel.kallsyms])\n\n");
    EXPECT_EQ(profile.stacks.at(0).labels.cpu, 3U);
    EXPECT_EQ(profile.value_type, (symbolize::ValueType{"samples", "count"}));
    EXPECT_THAT(frames_of(profile, 0), ElementsAre("__schedule [kernel.kallsyms] k"));
}

TEST(ReadPerfScript, SaysWhichLineItDoesNotUnderstand) {
    EXPECT_THAT(error_of(std::string(kText) + "what is this\n"),
                StartsWith("line 9: expected a sample of perf script"));
    EXPECT_THAT(error_of("a 1 1.0: cycles: \n\t zz f (x)\n"),
                StartsWith("line 2: expected a frame"));
    EXPECT_THAT(error_of("a 1 1.0: cycles: \n\t 10\n"), StartsWith("line 2: expected a frame"));
}

TEST(ParsePerfScriptHead, FindsTheTimeWhateverAThreadIsCalled) {
    for (const char* comm : {"sh", "Web Content", "a 12 b", "1.5: x", "[kworker] 7/8 1.0", "12"}) {
        const std::string line = std::string(comm) + "   77/78 [002] d..1. 9.000000005: 3 e: ";
        const auto head = parse_perf_script_head(line);
        ASSERT_TRUE(head) << comm;
        EXPECT_EQ(head->comm, comm);
        EXPECT_EQ(head->pid, 77U);
        EXPECT_EQ(head->tid, 78U);
        EXPECT_EQ(head->cpu, 2U);
        EXPECT_EQ(head->time.count(), 9'000'000'005);
        EXPECT_EQ(head->period, 3U);
    }
}

TEST(ParsePerfScriptHead, TakesModifiersOffEvents) {
    const auto event_of = [](const std::string& event) {
        const std::string line = "a 1 1.0: " + event + ": ";
        const auto head = parse_perf_script_head(line);
        return head ? std::string(head->event) : "none";
    };
    EXPECT_EQ(event_of("cycles"), "cycles");
    EXPECT_EQ(event_of("cycles:ppp"), "cycles");
    EXPECT_EQ(event_of("cpu-clock:pppH"), "cpu-clock");
    EXPECT_EQ(event_of("sched:sched_switch"), "sched:sched_switch");
}

TEST(ParsePerfScriptHead, RefusesWhatIsNone) {
    for (const char* bad : {"", "a", "a 1", "a 1 1.0", "a 1 1.0:", "a 1 1.0: cycles", "1 1.0: e:",
                            "a b 1.0: e:", "a 1 1.0x: e:", "a;b;c 12", "a 1 9999999999.0: e:"}) {
        EXPECT_FALSE(parse_perf_script_head(bad)) << bad;
    }
}

TEST(IsPerfScript, LooksAtTheFirstLineThatSaysSomething) {
    EXPECT_TRUE(is_perf_script(kText));
    EXPECT_TRUE(is_perf_script("# captured on: today\n#\n" + std::string(kText)));
    EXPECT_FALSE(is_perf_script("a;b 1\n"));
    EXPECT_FALSE(is_perf_script(""));
}

}  // namespace
}  // namespace bobbin::profile
