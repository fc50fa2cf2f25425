// SPDX-License-Identifier: Apache-2.0
// Code made at run time has the names that the program itself wrote into /tmp/perf-PID.map or a
// jitdump (fixtures/generated_names.c), and only if that is the program's own file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel/sampled_fixture.h"
#include "support/profile_readers.h"

namespace bobbin::test {
namespace {

constexpr const char* kFixture = "generated_names.pie";
const std::vector<std::string> kAtHighRate{"-F", "499"};

std::vector<Stack> stacks_with(const std::string& way) {
    const TemporaryDirectory directory;
    const RecordedRun run = record(directory, kAtHighRate,
                                   {fixture_path(kFixture), "2", way, directory.path().string()});
    remove_maps_of(run.profile);
    return run.profile.stacks_of(comm_of(kFixture));
}

ExpectedStack called(const ExpectedFrame& generated) {
    return ExpectedStack{generated, named("call_generated"), named("work")} + below_main();
}

// Both functions burn the same time; the frame pointer is not set up in each prologue's first two
// instructions, which hardly any sample meets.
void expect_names(const std::vector<Stack>& stacks, const std::string& first,
                  const std::string& second) {
    expect_exact("named", stacks, leaf_is_in({"[jit]", "[anon]"}),
                 any_of_these({called(named(first)), called(named(second))}));
    for (const std::string& name : {first, second}) {
        EXPECT_GE(judge(stacks, leaf_is(name), every_stack).judged, kFewestOfMany) << name;
    }
}

class PerfMap : public testing::TestWithParam<std::string> {};

TEST_P(PerfMap, NamesGeneratedCode) {
    expect_names(stacks_with(GetParam()), "first function", "second function");
}

INSTANTIATE_TEST_SUITE_P(Written, PerfMap,
                         testing::Values("plain", "at_exit", "appended", "garbage", "huge"),
                         [](const auto& way) { return way.param; });

class WhatIsNoPerfMap : public testing::TestWithParam<std::string> {};

TEST_P(WhatIsNoPerfMap, IsNeitherReadNorWaitedFor) {
    const std::vector<Stack> stacks = stacks_with(GetParam());
    expect_exact("unnamed", stacks, leaf_is_in({"[jit]", "[anon]"}),
                 is_exactly(called(unnamed_in("[anon]"))));
}

INSTANTIATE_TEST_SUITE_P(InItsPlace, WhatIsNoPerfMap,
                         testing::Values("fifo", "symlink", "foreign", "directory"),
                         [](const auto& way) { return way.param; });

TEST(Jitdump, NamesGeneratedAndMovedCodeWithFileAndLine) {
    const TemporaryDirectory directory;
    const RecordedRun run =
        record(directory, kAtHighRate,
               {fixture_path(kFixture), "2", "jitdump", directory.path().string()});
    expect_names(run.profile.stacks_of(comm_of(kFixture)), "dumped function", "moved function");
    const std::string raw = run_pprof("-raw", directory / "profile.pb.gz");
    EXPECT_NE(raw.find(" dumped function /src/generated.src:20:"), std::string::npos) << raw;
}

// Each twin's map names the address that both share.
TEST(TwoProcessesWithCodeAtOneAddress, HaveEachItsOwnName) {
    const std::vector<Stack> stacks = stacks_with("twins");
    std::map<std::string, std::map<std::string, std::uint64_t>> samples_by_name;
    for (const Stack& stack : stacks) {
        const std::vector<Frame> frames = stack.user_frames();
        if (frames.empty() || frames.front().module != "[jit]") continue;
        samples_by_name[frames.front().function][stack.label("pid")] += stack.count;
    }
    ASSERT_EQ(samples_by_name.size(), 2U);
    std::set<std::string> pids;
    for (const std::string name : {"first twin", "second twin"}) {
        const auto& samples_by_pid = samples_by_name[name];
        ASSERT_EQ(samples_by_pid.size(), 1U) << name;
        EXPECT_GE(samples_by_pid.begin()->second, kFewestOfMany) << name;
        pids.insert(samples_by_pid.begin()->first);
    }
    EXPECT_EQ(pids.size(), 2U);
}

bool has_right_name(const Stack& stack) {
    const Frame leaf = stack.user_frames().front();
    return is_function(leaf, "first function") || is_function(leaf, "second function");
}

// Process 1 of its own pid namespace, below a root of its own whose /tmp is a link that leads
// elsewhere as seen from outside; nothing of this is there any more when names are made.
class ContainedProcess : public testing::TestWithParam<std::string> {};

TEST_P(ContainedProcess, HasItsNamesFromItsOwnTmp) {
    const TemporaryDirectory root;
    const TemporaryDirectory output;
    const std::string script =
        "mkdir \"$2/scratch\"; ln -s /scratch \"$2/tmp\"; cp \"$1\" \"$2/contained\"; "
        "exec unshare --mount --propagation private --pid --fork chroot \"$2\" /contained 2 \"$3\"";
    const RecordedRun run =
        record(output, kAtHighRate,
               {"sh", "-e", "-c", script, "sh", fixture_path("generated_names.static"),
                root.path().string(), GetParam()});
    const std::vector<Stack> stacks = run.profile.stacks_of("contained");
    expect_exact("named", stacks, leaf_is_in({"[jit]", "[anon]"}), has_right_name);
}

INSTANTIATE_TEST_SUITE_P(Writing, ContainedProcess, testing::Values("plain", "at_exit"),
                         [](const auto& way) { return way.param; });

// Its files belong to its user, not to root.
TEST(ProcessOfAnotherUser, HasItsNamesFromItsOwnFile) {
    const TemporaryDirectory directory;
    const std::filesystem::path program = directory / "unprivileged";
    std::filesystem::copy_file(fixture_path("generated_names.static"), program);
    const RecordedRun run = record(
        directory, kAtHighRate,
        {"setpriv", "--reuid=54320", "--regid=54320", "--clear-groups", program, "2", "plain"});
    const std::vector<Stack> stacks = run.profile.stacks_of("unprivileged");
    expect_exact("named", stacks, leaf_is_in({"[jit]", "[anon]"}), has_right_name);
}

}  // namespace
}  // namespace bobbin::test
