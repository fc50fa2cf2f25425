// SPDX-License-Identifier: Apache-2.0
#include "kernel/processes_stacks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <utility>

#include "bobbin/bpf_abi.h"
#include "support/profile_readers.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

constexpr std::array<std::string_view, 3> kColours{"red", "blue", "green"};
constexpr double kRequiredShareOfWhole = 0.99;
constexpr int kLinks = 6;
constexpr std::string_view kWalkEndNames[] = {
#define X(enumerator, name, text) name,
    BOBBIN_WALK_ENDS(X)
#undef X
};

std::uint64_t samples_of(const std::vector<Stack>& stacks, const std::string& colour) {
    return judge(
               stacks, [&](const Stack& stack) { return has_colour(stack, colour); },
               [](const Stack&) { return true; })
        .judged;
}

ExpectedStack links_from(const std::string& colour, std::ptrdiff_t innermost) {
    ExpectedStack links;
    for (; innermost >= 1; --innermost)
        links.push_back(named(fmt::format("{}_{}", colour, innermost)));
    return links;
}

std::uint64_t sum_of_stack_ends(const std::map<std::string, std::uint64_t>& counters) {
    std::uint64_t sum = 0;
    for (const std::string_view end : kWalkEndNames) {
        const auto counter = counters.find("stack_" + std::string(end));
        if (counter != counters.end()) sum += counter->second;  // those that are 0 are left out
    }
    return sum;
}

template <class Number>
Number read_number(const std::filesystem::path& path) {
    Number number{};
    std::ifstream(path) >> number;
    return number;
}

template <class Number>
void write_number(const std::filesystem::path& path, Number number) {
    std::ofstream(path) << number << std::endl;
}

void expect_each_stack_ended_once(const ProfileText& profile) {
    EXPECT_EQ(sum_of_stack_ends(accounting_of(profile)), profile.sample_count())
        << "each sample's stack ended in one way";
}

}  // namespace

void stay_root() {
    for (const char* variable : {"SUDO_UID", "SUDO_GID", "SUDO_USER"}) ::unsetenv(variable);
}

std::string colour_of(const Frame& frame) {
    for (const std::string_view colour : kColours)
        for (int link = 1; link <= kLinks; ++link)
            if (is_function(frame, fmt::format("{}_{}", colour, link))) return std::string(colour);
    return {};
}

bool has_colour(const Stack& stack, const std::string& colour) {
    return std::any_of(stack.frames.begin(), stack.frames.end(),
                       [&](const Frame& frame) { return colour_of(frame) == colour; });
}

// Only main and its like call anything else than a link of the chain: the clock.
bool is_whole_chain(const Stack& stack, const std::string& colour, const ExpectedStack& outer) {
    std::vector<Frame> frames = stack.user_frames();
    const auto is_link = [](const Frame& frame) { return !colour_of(frame).empty(); };
    const auto first = std::find_if(frames.begin(), frames.end(), [&](const Frame& frame) {
        return is_link(frame) || matches(frame, outer.front());
    });
    if (first == frames.end()) return reaches_the_bottom(stack);
    if (first != frames.begin() && is_link(*first)) return false;
    frames.erase(frames.begin(), first);
    const auto links = std::find_if_not(frames.begin(), frames.end(), is_link) - frames.begin();
    return links <= kLinks && matches(frames, links_from(colour, links) + outer);
}

RecordedRun record_processes(const std::vector<std::string>& command) {
    stay_root();
    const TemporaryDirectory directory;
    RecordedRun run = record(directory, {"-F", "499"}, command);
    expect_each_stack_ended_once(run.profile);
    return run;
}

// Debian's kernels have kernel.perf_event_paranoid at 3, where nobody samples the whole machine
// without CAP_SYS_ADMIN; upstream's has it at 2.
RecordedRun record_processes_with_few_capabilities(const std::vector<std::string>& command) {
    stay_root();
    const LoweredSetting paranoia("/proc/sys/kernel/perf_event_paranoid", 2);
    const TemporaryDirectory directory;
    const std::filesystem::path output = directory / "profile.pb.gz";
    std::vector<std::string> arguments{
        "setpriv",
        "--bounding-set=-all,+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore",
        program_path(),
        "record",
        "-F",
        "499",
        "-o",
        output.string(),
        "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    RecordedRun run = recorded_by(arguments, output);
    expect_each_stack_ended_once(run.profile);
    return run;
}

RecordedRun record_script(const std::string& script, const std::string& fixture) {
    const TemporaryDirectory directory;
    return record_processes(
        {"sh", "-e", "-c", script, "sh", fixture_path(fixture), directory.path()});
}

void expect_one_colour(const std::vector<Stack>& stacks, const std::string& colour,
                       const ExpectedStack& outer, std::uint64_t fewest) {
    for (const std::string_view other : kColours) {
        if (other == colour) continue;
        EXPECT_EQ(samples_of(stacks, std::string(other)), 0U)
            << other << " where all is " << colour;
    }
    EXPECT_GE(samples_of(stacks, colour), fewest) << colour;
    const Verdict verdict = judge(
        stacks, [](const Stack& stack) { return !stack.user_frames().empty(); },
        [&](const Stack& stack) { return is_whole_chain(stack, colour, outer); });
    testing::Test::RecordProperty(colour, fmt::format("{}/{}", verdict.right, verdict.judged));
    EXPECT_GE(verdict.share_right(), kRequiredShareOfWhole) << colour << ": " << verdict.examples();
}

void expect_complete_stacks(const ProfileText& profile, double share, std::uint64_t fewest) {
    std::map<std::string, std::uint64_t> counters = accounting_of(profile);
    const std::uint64_t with_user_stack =
        profile.sample_count() - counters["stack_no_user_stack"] - counters["stack_in_execve"];
    const double complete = static_cast<double>(counters["stack_bottom"]);
    std::string text;
    for (const auto& [name, count] : counters) text += fmt::format(" {}={}", name, count);
    testing::Test::RecordProperty("accounting", text);
    EXPECT_GE(with_user_stack, fewest) << text;
    EXPECT_GE(complete, share * static_cast<double>(with_user_stack)) << text;
}

std::filesystem::path copy_fixture(const std::string& fixture, const std::filesystem::path& to) {
    std::error_code failure;
    std::filesystem::copy_file(fixture_path(fixture), to, failure);
    EXPECT_FALSE(failure) << to << ": " << failure.message();
    return to;
}

RaisedSetting::RaisedSetting(std::filesystem::path path, std::uint64_t wanted)
    : path_(std::move(path)), before_(value()) {
    if (before_ < wanted) write_number(path_, wanted);
}

RaisedSetting::~RaisedSetting() {
    if (value() != before_) write_number(path_, before_);
}

std::uint64_t RaisedSetting::value() const { return read_number<std::uint64_t>(path_); }

LoweredSetting::LoweredSetting(std::filesystem::path path, int wanted)
    : path_(std::move(path)), before_(read_number<int>(path_)) {
    if (before_ > wanted) write_number(path_, wanted);
}

LoweredSetting::~LoweredSetting() {
    if (read_number<int>(path_) != before_) write_number(path_, before_);
}

}  // namespace bobbin::test
