// SPDX-License-Identifier: Apache-2.0
// Code that a program has mapped itself (fixtures/processes_mapper.c): twice, page by page, moved,
// one library where another was, among 100,000 mappings, without a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernel/processes_stacks.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

constexpr const char* kMapper = "processes_mapper";
constexpr std::uint64_t kFewest = 300;

// The chain of a colour and the function that calls it go together; what else runs is main, ld.so
// and libc.
std::vector<Stack> stacks_under(const ProfileText& profile, const std::string& caller) {
    std::vector<Stack> stacks = profile.stacks_of(comm_of(kMapper));
    std::erase_if(stacks, [&](const Stack& stack) {
        return std::none_of(stack.frames.begin(), stack.frames.end(),
                            [&](const Frame& frame) { return is_function(frame, caller); });
    });
    return stacks;
}

ProfileText record_mapper(const std::string& way, const std::vector<std::string>& more = {},
                          const std::string& library = ".so") {
    std::vector<std::string> command{fixture_path(kMapper), way, "3",
                                     fixture_path("processes_library.red" + library),
                                     fixture_path("processes_library.blue" + library)};
    command.insert(command.end(), more.begin(), more.end());
    return record_processes(command).profile;
}

void expect_both_chains(const ProfileText& profile) {
    expect_one_colour(stacks_under(profile, "call_red"), "red",
                      ExpectedStack{named("call_red")} + below_main(), kFewest);
    expect_one_colour(stacks_under(profile, "call_blue"), "blue",
                      ExpectedStack{named("call_blue")} + below_main(), kFewest);
    // A chain whose caller is missing would be in neither.
    const Verdict verdict = judge(
        profile.stacks_of(comm_of(kMapper)),
        [](const Stack& stack) { return has_colour(stack, "red") || has_colour(stack, "blue"); },
        reaches_the_bottom);
    EXPECT_GE(verdict.share_right(), 0.99) << verdict.examples();
}

class CodeMapped : public testing::TestWithParam<std::string> {};

TEST_P(CodeMapped, ComesBackWhole) { expect_both_chains(record_mapper(GetParam())); }

INSTANTIATE_TEST_SUITE_P(By, CodeMapped, testing::Values("dlopen", "twice", "pages", "moved"),
                         [](const auto& way) { return way.param; });

// The kernel allows 65,530 mappings unless told otherwise.
TEST(OneOfManyMappings, ComesBackWhole) {
    constexpr std::uint64_t kWanted = 100'000;
    constexpr std::uint64_t kRest = 1'000;  // the program's own
    const RaisedSetting limit("/proc/sys/vm/max_map_count", kWanted + kRest);
    const std::uint64_t count = std::min(kWanted, limit.value() - kRest);
    testing::Test::RecordProperty("mappings", std::to_string(count));
    expect_both_chains(record_mapper("many", {std::to_string(count)}));
}

// A file in huge pages, as programs make one that put their text there.
TEST(CodeInHugePages, ComesBackWhole) {
    const RaisedSetting pages("/proc/sys/vm/nr_hugepages", 8);
    const TemporaryDirectory directory;
    const std::string mount = pages.value() >= 4 ? "hugetlbfs" : "tmpfs";
    const std::string script =
        "mount -t " + mount + " none \"$1\"; exec \"$2\" hugetlbfs 3 \"$3\" \"$4\" \"$1\"";
    const ProfileText profile =
        record_processes({"unshare", "--mount", "--propagation", "private", "sh", "-e", "-c",
                          script, "sh", directory.path(), fixture_path(kMapper),
                          fixture_path("processes_library.red.so"),
                          fixture_path("processes_library.blue.so")})
            .profile;
    expect_both_chains(profile);
}

// Text that was copied away from its file has no names any more, and only frame pointers lead on.
TEST(CodeWithoutAFile, IsFollowedByFramePointers) {
    const ProfileText profile = record_mapper("anonymous", {}, ".frame_pointers.so");
    const std::vector<Stack> stacks = profile.stacks_of(comm_of(kMapper));
    const auto is_copied_code = [](const Stack& stack) {
        const std::vector<Frame> frames = stack.user_frames();
        return !frames.empty() && frames.front().module == "[anon]";
    };
    // A leaf without locals has no frame of its own where gcc needs none: its caller is skipped.
    const auto is_whole = [](const Stack& stack) {
        std::vector<Frame> frames = stack.user_frames();
        const auto first = std::find_if(frames.begin(), frames.end(), [](const Frame& frame) {
            return frame.module != "[anon]";
        });
        const auto copied = first - frames.begin();
        frames.erase(frames.begin(), first);
        return (copied == 5 || copied == 6) &&
               matches(frames, ExpectedStack{{{"call_red", "call_blue"}, {}}} + below_main());
    };
    const Verdict verdict = judge(stacks, is_copied_code, is_whole);
    EXPECT_GE(verdict.judged, kFewest);
    EXPECT_GE(verdict.share_right(), 0.99) << verdict.examples();
}

}  // namespace
}  // namespace bobbin::test
