// SPDX-License-Identifier: Apache-2.0
// Names of what the just-in-time compilers of node and HotSpot make, by the files that these write
// when they are asked to.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "kernel/sampled_fixture.h"
#include "support/profile_readers.h"

namespace bobbin::test {
namespace {

std::string script_path(const std::string& name) {
    return std::string(BOBBIN_SCRIPTS_DIR) + "/" + name;
}

bool is_in_hot_loop(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return std::ranges::any_of(frames, [](const Frame& frame) {
        return frame.module == "[jit]" && frame.function.find("hotLoop") != std::string::npos;
    });
}

bool leaf_is_named(const Stack& stack) { return stack.user_frames().front().module == "[jit]"; }

// The program works for three seconds, 1,500 samples; beside that the runtime starts and compiles.
// 95 %: code that was thrown away before the runtime wrote its list is not in it.
void expect_named(const ProfileText& profile) {
    const Verdict hot = judge(profile.stacks, every_stack, is_in_hot_loop);
    EXPECT_GE(hot.right, 3 * kFewestSamples) << hot.examples();
    const Verdict leaves = judge(profile.stacks, leaf_is_in({"[jit]", "[anon]"}), leaf_is_named);
    EXPECT_GE(leaves.share_right(), 0.95) << leaves.examples();
    testing::Test::RecordProperty("named", fmt::format("{}/{}", leaves.right, leaves.judged));
    testing::Test::RecordProperty("hot", fmt::format("{}/{}", hot.right, hot.judged));
}

RecordedRun record_runtime(const TemporaryDirectory& directory,
                           const std::vector<std::string>& command) {
    RecordedRun run = record(directory, {"-F", "499"}, command);
    remove_maps_of(run.profile);
    return run;
}

// V8 writes a log and its jitdump into the working directory.
std::vector<std::string> node_in(const TemporaryDirectory& directory, const std::string& option) {
    return {"sh",        "-c",   "cd \"$1\" && exec \"$2\" \"$3\" \"$4\" 3", "sh", directory.path(),
            BOBBIN_NODE, option, script_path("generated_names.js")};
}

TEST(Node, HasNamesFromItsPerfMap) {
    const TemporaryDirectory directory;
    expect_named(record_runtime(directory, node_in(directory, "--perf-basic-prof")).profile);
}

TEST(Node, HasNamesFromItsJitdump) {
    const TemporaryDirectory directory;
    expect_named(record_runtime(directory, node_in(directory, "--perf-prof")).profile);
}

// Written when the JVM ends, that is, when nothing but the file itself is left of it. Without frame
// pointers HotSpot uses rbp for values.
TEST(HotSpot, HasNamesFromThePerfMapItWritesAtItsEnd) {
    const TemporaryDirectory directory;
    expect_named(
        record_runtime(directory, {BOBBIN_JAVA, "-XX:+UnlockDiagnosticVMOptions",
                                   "-XX:+DumpPerfMapAtExit", "-XX:+PreserveFramePointer",
                                   "-XX:+UseSerialGC", script_path("GeneratedNames.java"), "3"})
            .profile);
}

}  // namespace
}  // namespace bobbin::test
