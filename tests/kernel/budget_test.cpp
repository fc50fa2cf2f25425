// SPDX-License-Identifier: Apache-2.0
// Six programs whose tables take a bucket each, with room for three or for all.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"
#include "support/child_process.h"
#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

constexpr std::uint64_t kBudgetBytes = 4ULL << 20;  // three buckets of 1 MiB and a page
constexpr int kLookIntervalMs = 10;

std::map<std::string, std::uint64_t> fields_of(const std::filesystem::path& fdinfo) {
    std::map<std::string, std::uint64_t> fields;
    std::ifstream file(fdinfo);
    std::string name;
    std::string value;
    while (file >> name >> value) fields[name] = std::strtoull(value.c_str(), nullptr, 0);
    return fields;
}

// What the kernel charges for the buckets that a process holds.
std::uint64_t charged_for_buckets(pid_t pid) {
    std::map<std::uint64_t, std::uint64_t> bytes_by_map;
    std::error_code gone;
    const std::filesystem::path folder = "/proc/" + std::to_string(pid) + "/fdinfo";
    for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
        const auto fields = fields_of(entry.path());
        const auto value_size = fields.find("value_size:");
        if (value_size == fields.end() || value_size->second != abi::BUCKET_BYTES) continue;
        bytes_by_map[fields.at("map_id:")] = fields.at("memlock:");
    }
    std::uint64_t bytes = 0;
    for (const auto& [map, charged] : bytes_by_map) bytes += charged;
    return bytes;
}

// The most that was seen until the process ended.
std::uint64_t watch_buckets(pid_t pid) {
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    std::uint64_t most = 0;
    pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
    while (::poll(&ended, 1, kLookIntervalMs) == 0) most = std::max(most, charged_for_buckets(pid));
    return most;
}

struct BudgetRun {
    RecordedRun recorded;
    std::uint64_t most_charged_bytes = 0;
};

// Records `script`, in which $1 to $6 are the programs.
BudgetRun record_in_budget(const TemporaryDirectory& directory, const std::string& script) {
    const std::filesystem::path output = directory / "profile.pb.gz";
    std::vector<std::string> arguments{program_path(),
                                       "record",
                                       "-F",
                                       "199",
                                       "--max-unwind-memory",
                                       std::to_string(kBudgetBytes),
                                       "-o",
                                       output.string(),
                                       "--",
                                       "/bin/sh",
                                       "-c",
                                       script,
                                       "sh"};
    for (int number = 1; number <= 6; ++number) {
        const std::filesystem::path program = directory / ("large_table." + std::to_string(number));
        std::filesystem::copy_file(fixture_path(program.filename()), program);
        arguments.push_back(program.string());
    }
    BudgetRun run;
    ChildProcess child(arguments);
    run.most_charged_bytes = watch_buckets(child.pid());
    run.recorded.process = child.wait();
    EXPECT_EQ(run.recorded.process.exit_status, 0) << run.recorded.process.standard_error;
    run.recorded.profile = read_pprof(output);
    expect_every_tick_accounted_for(run.recorded.profile);
    testing::Test::RecordProperty("most_charged_bytes", std::to_string(run.most_charged_bytes));
    testing::Test::RecordProperty("summary", run.recorded.process.standard_error);
    return run;
}

Verdict whole_stacks_of(const RecordedRun& run, const std::string& comm) {
    Verdict verdict = judge(
        run.profile.stacks_of(comm),
        [](const Stack& stack) { return !stack.user_frames().empty(); }, reaches_main_and_bottom);
    testing::Test::RecordProperty("whole_of_" + comm, std::to_string(verdict.share_right()) +
                                                          " of " + std::to_string(verdict.judged));
    return verdict;
}

void expect_within_budget(const BudgetRun& run) {
    EXPECT_LE(run.most_charged_bytes, kBudgetBytes);
    EXPECT_GE(run.most_charged_bytes, 2ULL << 20) << "nothing was there to be bounded";
}

// The first program is sampled three times as often as each of the others, all the time. Its table
// is there after a second or two; two of the others have room besides.
TEST(UnwindMemoryBudget, KeepsTheHottestWholeWhenNotAllFit) {
    const TemporaryDirectory directory;
    const BudgetRun run =
        record_in_budget(directory, "$1 4 & $1 4 & $1 4 & $2 4 & $3 4 & $4 4 & $5 4 & $6 4 & wait");
    expect_within_budget(run);
    const Verdict hottest = whole_stacks_of(run.recorded, "large_table.1");
    EXPECT_GE(hottest.judged, 1500U);
    EXPECT_GE(hottest.share_right(), 0.7) << hottest.examples();
    std::uint64_t judged = 0;
    std::uint64_t whole = 0;
    for (int number = 2; number <= 6; ++number) {
        const Verdict verdict =
            whole_stacks_of(run.recorded, "large_table." + std::to_string(number));
        judged += verdict.judged;
        whole += verdict.right;
    }
    EXPECT_GE(judged, 2500U);
    // Of five programs two fit; what is left out shows, and as nothing else.
    EXPECT_LE(whole, judged * 7 / 10);
    const auto ends = accounting_of(run.recorded.profile);
    ASSERT_TRUE(ends.contains("stack_no_room"));
    EXPECT_GE(ends.at("stack_no_room"), (judged - whole) * 8 / 10);
    EXPECT_NE(run.recorded.process.standard_error.find("the budget for unwind tables was used up"),
              std::string::npos)
        << run.recorded.process.standard_error;
}

// One after the other and longer than a table takes to grow cold, so that there is always one that
// may go; the second runs again at the end, under another name.
TEST(UnwindMemoryBudget, MakesTheStacksOfAProgramWholeAgainThatHadToLeave) {
    const TemporaryDirectory directory;
    std::filesystem::create_symlink(directory / "large_table.2", directory / "once_more");
    const BudgetRun run = record_in_budget(
        directory, "$1 21 & $2 5; $3 5; $4 5; " + (directory / "once_more").string() + " 5; wait");
    expect_within_budget(run);
    for (const char* const comm : {"large_table.1", "large_table.4", "once_more"}) {
        const Verdict verdict = whole_stacks_of(run.recorded, comm);
        EXPECT_GE(verdict.judged, 400U) << comm;
        EXPECT_GE(verdict.share_right(), 0.6) << comm << "\n" << verdict.examples();
    }
}

// What is charged for buckets once `holds` of it, or after a generous time.
std::uint64_t wait_for_buckets(pid_t pid, const std::function<bool(std::uint64_t)>& holds) {
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
    pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
    std::uint64_t charged = charged_for_buckets(pid);
    while (!holds(charged) && std::chrono::steady_clock::now() < deadline &&
           ::poll(&ended, 1, kLookIntervalMs) == 0) {
        charged = charged_for_buckets(pid);
    }
    return charged;
}

// Programs that come and go, each a file of its own: six tables of which at most two fit into a
// bucket. Some may lie beside the tables of the recorder's own libraries, and one bucket is kept
// for whoever comes next.
TEST(UnwindMemory, GoesBackWhenTheFilesAreGone) {
    constexpr std::uint64_t kTwoBuckets = 2ULL << 20;
    const TemporaryDirectory directory;
    const std::filesystem::path output = directory / "profile.pb.gz";
    ChildProcess recorder(
        {program_path(), "record", "-F", "199", "--comm", "large_table*", "-o", output.string()});
    wait_for_buckets(recorder.pid(), [](std::uint64_t bytes) { return bytes > 0; });
    std::vector<std::unique_ptr<ChildProcess>> programs;
    for (int number = 1; number <= 6; ++number) {
        const std::filesystem::path program = directory / ("large_table." + std::to_string(number));
        std::filesystem::copy_file(fixture_path(program.filename()), program);
        programs.push_back(
            std::make_unique<ChildProcess>(std::vector<std::string>{program.string(), "2"}));
    }
    for (const auto& program : programs) EXPECT_EQ(program->wait().exit_status, 0);
    const std::uint64_t then = charged_for_buckets(recorder.pid());
    for (int number = 1; number <= 6; ++number) {
        std::filesystem::remove(directory / ("large_table." + std::to_string(number)));
    }
    const std::uint64_t at_last = wait_for_buckets(
        recorder.pid(), [&](std::uint64_t bytes) { return bytes + kTwoBuckets <= then; });
    EXPECT_LE(at_last + kTwoBuckets, then);
    recorder.send_signal(SIGINT);
    EXPECT_EQ(recorder.wait().exit_status, 0);
    std::uint64_t named = 0;
    for (const Stack& stack : read_pprof(output).stacks) {
        if (stack.label("comm").starts_with("large_table") && reaches_main_and_bottom(stack))
            named += stack.count;
    }
    EXPECT_GE(named, 500U) << "the files are gone, the names of their functions are not";
}

}  // namespace
}  // namespace bobbin::test
