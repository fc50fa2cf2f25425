// SPDX-License-Identifier: Apache-2.0
// Judges what came out of a guest (guest_init), in the directory BOBBIN_GUEST_RESULTS: the profiles
// by the rules that tests/kernel has for the kernel of this machine, the BPF programs by what the
// guest's verifier said. Lines that begin with "# " are for people.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

constexpr std::uint64_t kVerifierLimit = 1'000'000;
constexpr double kRequiredShare = 0.99;
constexpr std::uint64_t kFewestSamples = 200;  // guest_init asks for 300, start-up in them

std::filesystem::path result(const std::string& name) {
    const char* const directory = std::getenv("BOBBIN_GUEST_RESULTS");
    return std::filesystem::path(directory != nullptr ? directory : ".") / name;
}

std::string text_of(const std::string& name) {
    const std::filesystem::path path = result(name);
    if (!std::filesystem::exists(path)) {
        ADD_FAILURE() << "the guest left no " << path;
        return {};
    }
    return read_whole_file(path);
}

// "6.1.0-56-cloud-amd64" -> {6, 1}
std::pair<int, int> kernel_release() {
    std::istringstream text(text_of("release"));
    std::pair<int, int> release;
    char dot = 0;
    text >> release.first >> dot >> release.second;
    EXPECT_EQ(dot, '.') << "uname -r of the guest";
    return release;
}

// The first kernel with what the program is made of; the others run on every kernel from 5.10 on.
std::pair<int, int> first_kernel_for(const std::string& program) {
    static const std::map<std::string, std::pair<int, int>> first{
        {"on_tick", {5, 17}},               // bpf_loop
        {"on_tick_find_vma", {5, 17}},      // bpf_find_vma and bpf_loop
        {"announce_mapped_file", {5, 12}},  // the iterator task_vma
    };
    const auto found = first.find(program);
    return found == first.end() ? std::pair{5, 10} : found->second;
}

// (program, instructions the verifier looked at, or its refusal) as load_programs wrote them.
std::map<std::string, std::string> verdicts() {
    std::istringstream lines(text_of("programs"));
    std::map<std::string, std::string> verdicts;
    for (std::string name, verdict; lines >> name && std::getline(lines >> std::ws, verdict);)
        verdicts.emplace(name, verdict);
    EXPECT_TRUE(verdicts.contains("on_tick_tail_calls")) << "the list of programs is not whole";
    return verdicts;
}

bool is_refusal(const std::string& verdict) { return verdict.starts_with("refused"); }

TEST(Verifier, TakesEveryProgramTheKernelCanRun) {
    const std::pair<int, int> release = kernel_release();
    for (const auto& [program, verdict] : verdicts()) {
        if (release < first_kernel_for(program)) continue;
        EXPECT_FALSE(is_refusal(verdict)) << program << " " << verdict << "\n"
                                          << text_of("programs.log");
    }
}

// One kernel's verifier takes what the next refuses: half of its limit is kept free.
TEST(Verifier, StaysFarFromItsLimit) {
    std::string line = "# verified instructions:";
    for (const auto& [program, verdict] : verdicts()) {
        line += fmt::format(" {} {}", program, verdict);
        if (is_refusal(verdict)) continue;
        const std::uint64_t instructions = std::stoull(verdict);
        EXPECT_GT(instructions, 0U) << program;
        EXPECT_LT(instructions, kVerifierLimit / 2) << program;
    }
    fmt::print("{}\n", line);
}

// tests/kernel/paused_walk_test.cpp, run by the guest: three tests of each program that it takes.
TEST(PausedWalks, AreWhatProcAndTheMemorySay) {
    const std::string log = text_of("paused_walks.log");
    EXPECT_EQ(text_of("paused_walks.status"), "0\n") << log;
    const std::size_t programs = kernel_release() < first_kernel_for("on_tick") ? 1 : 3;
    EXPECT_NE(log.find(fmt::format("[  PASSED  ] {} tests.", 3 * programs)), std::string::npos)
        << log;
}

using StackRule = std::function<bool(const Stack&)>;

bool leaf_is_in(const std::string& module, const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return !frames.empty() && frames.front().module == module;
}

bool is_the_chain(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return matches(frames, chain_from(chain_link_of(frames.front())) + below_main());
}

bool is_six_hundred_deep(const Stack& stack) {
    return matches(stack.user_frames(), ExpectedStack(600, named("descend")) + below_main());
}

bool is_below_pread(const Stack& stack) {
    const ExpectedFrame pread{{"pread", "pread64", "__pread64", "__libc_pread", "__libc_pread64"},
                              "libc.so.6"};
    return matches(stack.user_frames(), ExpectedStack{pread, named("read_zeros")} + below_main());
}

bool has_kernel_frame(const Stack& stack, std::string_view part) {
    return std::any_of(stack.frames.begin(), stack.frames.end(), [&](const Frame& frame) {
        return frame.is_kernel && frame.function.find(part) != std::string::npos;
    });
}

bool is_in_pread(const Stack& stack) { return has_kernel_frame(stack, "sys_pread64"); }

// The new program has no user stack yet.
bool is_in_execve(const Stack& stack) {
    return stack.user_frames().empty() && has_kernel_frame(stack, "execve");
}

bool is_of_the_work(const Frame& frame) {
    return is_function(frame, "main") || is_function(frame, "descend") || chain_link_of(frame) != 0;
}

// Whole, and before or after main: emulated, a program takes long to start.
bool is_start_or_exit(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return reaches_the_bottom(stack) && std::none_of(frames.begin(), frames.end(), is_of_the_work);
}

struct Recorded {
    std::string name;  // of the files in the results
    std::string fixture;
    StackRule is_exact;
    bool works_in_kernel = false;

    [[nodiscard]] bool is_judged(const Stack& stack) const {
        if (works_in_kernel) return is_in_pread(stack);
        // In the kernel they only get pages: a stack that is to be 600 deep is not so deep yet.
        return leaf_is_in(fixture, stack) && !stack.has_kernel_frames() && !is_start_or_exit(stack);
    }
};

void PrintTo(const Recorded& recorded, std::ostream* out) { *out << recorded.name; }

class Recording : public testing::TestWithParam<Recorded> {
protected:
    static ProfileText profile() { return read_pprof(result(GetParam().name + ".pb.gz")); }
    static std::string log() { return text_of(GetParam().name + ".log"); }
};

TEST_P(Recording, AccountsForEveryTick) {
    EXPECT_EQ(text_of(GetParam().name + ".status"), "0\n") << log();
    expect_every_tick_accounted_for(profile());
}

// A warning tells that another program ran than the one asked for, or that mappings were not found.
TEST_P(Recording, WarnsOfNothing) {
    EXPECT_EQ(log().find("bobbin: warning: "), std::string::npos) << log();
    EXPECT_EQ(log().find("bobbin: error: "), std::string::npos) << log();
}

// Exact: of the samples in the program's own code; where the work is done in the kernel, of those
// in its system call. Bottom: of all samples with a user stack.
TEST_P(Recording, HasWholeStacks) {
    const std::vector<Stack> stacks = profile().stacks_of(comm_of(GetParam().fixture));
    const Verdict exact = judge(
        stacks, [](const Stack& stack) { return GetParam().is_judged(stack); },
        GetParam().is_exact);
    EXPECT_GE(exact.judged, kFewestSamples);
    EXPECT_GE(exact.share_right(), kRequiredShare) << exact.examples();

    const Verdict bottom =
        judge(stacks, [](const Stack& stack) { return !is_in_execve(stack); }, reaches_the_bottom);
    EXPECT_GE(bottom.share_right(), kRequiredShare) << bottom.examples();
    fmt::print("# {}: {} of {} stacks exact, {} of {} down to the bottom\n", GetParam().name,
               exact.right, exact.judged, bottom.right, bottom.judged);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Recording,
    testing::Values(Recorded{"known_chain", "known_chain.gcc.pie", is_the_chain},
                    Recorded{"known_chain_static", "known_chain.gcc.static", is_the_chain},
                    Recorded{"deep_stack", "deep_stack.gcc.pie", is_six_hundred_deep},
                    Recorded{"kernel_work", "kernel_work.gcc.pie", is_below_pread, true},
                    Recorded{"tail_calls", "known_chain.gcc.pie", is_the_chain}),
    [](const testing::TestParamInfo<Recorded>& recorded) { return recorded.param.name; });

}  // namespace
}  // namespace bobbin::test
