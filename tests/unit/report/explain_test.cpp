// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "report/advice.h"
#include "unit/report/small_profile.h"

namespace bobbin::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Problem::Kind;

const ModuleFacts& facts_of(const Explanation& explanation, const std::string& module) {
    static const ModuleFacts kNone;
    for (const ModuleFacts& facts : explanation.modules) {
        if (facts.module == module) return facts;
    }
    ADD_FAILURE() << "no " << module;
    return kNone;
}

// 6 stacks lock<main whole, 3 of libx without a name below main, ending in libx, 1 of the kernel
// that ended before its first user frame. main has a line, lock has none.
symbolize::NamedProfile example() {
    test::SmallProfile small;
    const auto main = small.location({"main"}, "/bin/app", 40);
    const auto lock = small.location({"spin", "lock"}, "/bin/app");
    const auto unnamed = small.location({"libx.so+0x10"}, "/lib/libx.so");
    const auto kernel = small.location({"do_sys"}, "[kernel]");
    small.profile.locations[unnamed].is_named = false;
    small.profile.locations[kernel].is_kernel = true;
    small.stack({lock, main}, 6).by_frame_pointer = {1};
    small.stack({main, unnamed}, 3).walk_end = abi::WALK_END_NO_CFI;
    small.stack({kernel}, 1).walk_end = abi::WALK_END_IN_EXECVE;
    return small.profile;
}

TEST(Explain, CountsFramesOfModulesByTheirSamples) {
    const Explanation explanation = explain(example());
    EXPECT_EQ(explanation.sample_count, 10U);
    EXPECT_EQ(explanation.frame_count, 19U);  // 6 * 2 + 3 * 2 + 1
    EXPECT_EQ(explanation.named_frame_count, 16U);
    EXPECT_EQ(explanation.frame_count_with_lines, 9U);
    const ModuleFacts& app = facts_of(explanation, "/bin/app");
    EXPECT_EQ(app.frames, 15U);
    EXPECT_EQ(app.named, 15U);
    EXPECT_EQ(app.with_lines, 9U);
    EXPECT_EQ(app.with_inlined, 6U);
    EXPECT_EQ(app.left_by_frame_pointer, 6U);
    EXPECT_EQ(app.ended_early(), 0U);
    EXPECT_EQ(explanation.modules.front().module, "/bin/app");
}

TEST(Explain, ChargesTheModuleOfTheLastFrame) {
    const Explanation explanation = explain(example());
    EXPECT_EQ(facts_of(explanation, "/lib/libx.so").early_ends[abi::WALK_END_NO_CFI], 3U);
    const ModuleFacts& before = facts_of(explanation, std::string(kNoUserFrame));
    EXPECT_EQ(before.early_ends[abi::WALK_END_IN_EXECVE], 1U);
    EXPECT_EQ(before.frames, 0U);
    EXPECT_EQ(facts_of(explanation, "[kernel]").ended_early(), 0U);
}

TEST(Explain, ListsTheLargestProblemFirst) {
    const Explanation explanation = explain(example());
    const std::vector<Problem> problems = problems_of(explanation);
    // No line: 6 of app, 1 of the kernel. No name: 3 of libx. Ends: 3 and 1 of 10.
    ASSERT_THAT(problems, SizeIs(5));
    EXPECT_EQ(problems[0].kind, Kind::kLines);
    EXPECT_DOUBLE_EQ(problems[0].share, 6.0 / 19);
    EXPECT_EQ(problems[1].kind, Kind::kStacks);
    EXPECT_EQ(problems[1].end, abi::WALK_END_NO_CFI);
    EXPECT_DOUBLE_EQ(problems[1].share, 0.3);
    EXPECT_EQ(problems[2].kind, Kind::kNames);
    EXPECT_DOUBLE_EQ(problems[2].share, 3.0 / 19);
    EXPECT_EQ(problems[3].end, abi::WALK_END_IN_EXECVE);
    EXPECT_EQ(problems[4].kind, Kind::kLines);
}

TEST(Explain, TellsTheRuntimeOfGeneratedCodeByTheFilesOfItsStacks) {
    test::SmallProfile small;
    const auto code = small.location({"[anon]+0x1"}, "[anon]");
    small.profile.locations[code].is_named = false;
    small.stack({code, small.location({"JavaMain"}, "/usr/lib/jvm/lib/server/libjvm.so")}, 3);
    small.stack({code}, 2).labels.comm = "node";
    small.stack({code}, 1).labels.comm = "game";
    const Explanation explanation = explain(small.profile);
    const auto command = [&](Runtime runtime) {
        for (const Problem& problem : problems_of(explanation)) {
            const ModuleFacts& module = explanation.modules[problem.module];
            if (module.module != "[anon]" || module.runtime != runtime) continue;
            return advise(problem, module, {}).run;
        }
        ADD_FAILURE() << name_of(runtime);
        return std::string();
    };
    EXPECT_THAT(command(Runtime::kJava), HasSubstr("-XX:+DumpPerfMapAtExit"));
    EXPECT_THAT(command(Runtime::kNode), HasSubstr("--perf-basic-prof"));
    EXPECT_THAT(command(Runtime::kNone), IsEmpty());
}

TEST(Explain, OfNothingHasNoProblems) { EXPECT_THAT(problems_of(explain({})), IsEmpty()); }

TEST(Advice, NamesThePackageOfDebuggingInformation) {
    const Problem names{.kind = Kind::kNames};
    EXPECT_EQ(advise(names, {.module = "/usr/lib/x86_64-linux-gnu/libc.so.6"}, {}).run,
              "sudo apt install libc6-dbg");
    EXPECT_EQ(
        advise(names, {.module = "/usr/sbin/nginx"}, {.package = "nginx", .was_asked = true}).run,
        "sudo apt install nginx-dbgsym");
    EXPECT_THAT(advise(names, {.module = "/opt/app"}, {.was_asked = true}).text, HasSubstr("-g"));
    EXPECT_THAT(advise(names, {.module = "/opt/app"}, {}).run, IsEmpty());
    EXPECT_THAT(advise(names, {.module = "/opt/app"}, {.has_debug_file = true}).run,
                HasSubstr("bobbin record"));
}

TEST(Advice, KnowsWhatTheKernelLacks) {
    const ModuleFacts kernel{.module = "[kernel]", .is_kernel = true};
    EXPECT_THAT(advise({.kind = Kind::kNames}, kernel, {}).run, HasSubstr("kptr_restrict"));
    EXPECT_EQ(advise({.kind = Kind::kLines}, kernel, {.kernel_release = "6.1.0-1-amd64"}).run,
              "sudo apt install linux-image-6.1.0-1-amd64-dbg");
}

TEST(Advice, HasWordsForEveryEnd) {
    for (int end = 0; end < abi::WALK_END_COUNT; ++end) {
        const Problem problem{.end = static_cast<abi::walk_end>(end)};
        const Advice advice = advise(problem, {.module = "/opt/app"}, {});
        EXPECT_FALSE(advice.text.empty()) << text_of(problem.end);
        EXPECT_EQ(advice.text.find('\n'), std::string::npos);
    }
    EXPECT_THAT(advise({.end = abi::WALK_END_NO_ROOM}, {}, {}).run,
                HasSubstr("--max-unwind-memory"));
    EXPECT_THAT(advise({.end = abi::WALK_END_NO_MEMORY}, {}, {}).run, HasSubstr("--max-memory"));
}

// The path of a module comes from whoever was profiled, and the command is pasted.
TEST(Advice, PastesNoPathThatAShellWouldRead) {
    const Problem refused{.end = abi::WALK_END_FILE_REFUSED};
    EXPECT_EQ(advise(refused, {.module = "/opt/lib.so"}, {}).run, "bobbin object-info /opt/lib.so");
    EXPECT_THAT(advise(refused, {.module = "/opt/$(reboot)"}, {}).run, IsEmpty());
    EXPECT_THAT(advise(refused, {.module = "[anon]"}, {}).run, IsEmpty());
}

}  // namespace
}  // namespace bobbin::report
