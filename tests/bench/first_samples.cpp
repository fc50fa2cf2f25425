// SPDX-License-Identifier: Apache-2.0
// Two tables. First: of the CPU time that short processes had (rusage, user mode), the share that
// came back as exact whole stacks, and of all their samples with a user stack the share that was
// whole; churn is 60 ms of work in one program again and again, blink 15 ms in a file that nobody
// has seen before and that is removed afterwards. Second: loads that try to make the recorder lose
// its way or grow, with what that cost. A busy line has two other processes that want both CPUs.
//   first_samples [SECONDS]     of each load; 20 unless said
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <regex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/first_samples_cost.h"
#include "kernel/processes_stacks.h"
#include "support/profile_readers.h"
#include "support/temporary_directory.h"

namespace bobbin::bench {
namespace {

constexpr double kFrequencyHz = 499;

using test::fixture_path;

// "count=12 user_s=3.5": what a fixture says of its own work.
double value_of(const std::string& text, const std::string& name) {
    const std::size_t at = text.rfind(name + "=");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size() + 1));
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// What two CPUs have to share with the load.
class BusyLoops {
public:
    explicit BusyLoops(int count) {
        for (int i = 0; i < count; ++i)
            loops_.push_back(std::make_unique<test::ChildProcess>(
                std::vector<std::string>{"sh", "-c", "while :; do :; done"}));
    }

private:
    std::vector<std::unique_ptr<test::ChildProcess>> loops_;
};

std::vector<std::string> children(const std::string& load, double seconds,
                                  const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{fixture_path("processes_children"), load,
                                     fmt::format("{}", seconds)};
    command.insert(command.end(), more.begin(), more.end());
    return command;
}

std::string accounts_of(const test::ProfileText& profile) {
    std::string text;
    for (const auto& [name, count] : test::accounting_of(profile))
        if (count != 0) text += fmt::format(" {}={}", name, count);
    return text;
}

void print_short_lives(const std::string& load, const std::string& milliseconds, double seconds,
                       int busy_loops) {
    const test::TemporaryDirectory directory;
    const std::string output = directory / "profile.pb.gz";
    const auto program = test::copy_fixture("processes_chain.red", directory / "churn");
    std::vector<std::string> command{
        test::program_path(), "record", "-q", "-a", "-F", "499", "-o", output, "--"};
    const auto work = children(load, seconds, {program, milliseconds});
    command.insert(command.end(), work.begin(), work.end());

    const BusyLoops busy(busy_loops);
    const test::FinishedProcess finished = test::run_process(command);
    const test::ProfileText profile = test::read_pprof(output);
    test::expect_every_tick_accounted_for(profile);
    std::vector<test::Stack> stacks = profile.stacks;
    std::erase_if(stacks, [&](const test::Stack& stack) {
        return !stack.label("comm").starts_with(load) || stack.user_frames().empty();
    });
    const auto every = [](const test::Stack&) { return true; };
    const auto is_whole = [](const test::Stack& stack) {
        return test::is_whole_chain(stack, "red", test::below_main());
    };
    const auto in_chain = [](const test::Stack& stack) { return test::has_colour(stack, "red"); };
    const test::Verdict whole = judge(stacks, every, is_whole);
    const test::Verdict exact = judge(stacks, in_chain, is_whole);
    const double count = value_of(finished.standard_output, "count");
    const double burned = value_of(finished.standard_output, "user_s") * kFrequencyHz;
    const double in_main = count * std::stod(milliseconds) / 1e3 * kFrequencyHz;
    const auto right = static_cast<double>(exact.right);
    fmt::print(
        "{} {} s {}: {:.0f} children burned {:.0f} ticks; exact {} = {:.2f} % ({:.2f} % of what "
        "they did in main); whole of those with a user stack {:.3f} % of {};{}\n",
        load, seconds, busy_loops == 0 ? "idle" : "busy", count, burned, exact.right,
        percent(right, burned), percent(right, in_main), whole.share_right() * 100, whole.judged,
        accounts_of(profile));
    if (whole.share_right() < 0.999) fmt::print(stderr, "{}", whole.examples());
    std::fflush(stdout);
}

// Of one kind of memory at all four moments.
std::string mebibytes(std::span<const MemoryUse> uses, std::uint64_t MemoryUse::* kind) {
    std::string text;
    for (const MemoryUse& use : uses)
        text += fmt::format("{}{:.1f}", text.empty() ? "" : "/",
                            static_cast<double>(use.*kind) / (1 << 20));
    return text;
}

// "1234 stacks of 567890 bytes": what was counted, which is there to stay.
double mebibytes_of_stacks(const std::string& log) {
    std::smatch found;
    const bool said = std::regex_search(log, found, std::regex("stacks of ([0-9]+) bytes"));
    return said ? std::stod(found[1]) / (1 << 20) : 0;
}

// The recorder alone until it has come to rest, the load, and again alone.
void print_load(const std::string& name, const std::vector<std::string>& command) {
    constexpr std::chrono::seconds kSoonAfter{5};
    constexpr std::chrono::seconds kLongAfter{20};
    const test::TemporaryDirectory directory;
    const std::string output = directory / "profile.pb.gz";
    test::ChildProcess bobbin({test::program_path(), "record", "-F", "499", "-o", output},
                              {{"BOBBIN_LOG", "debug"}});
    std::vector<MemoryUse> uses{memory_at_rest(bobbin.pid())};
    const double cpu_before = cpu_seconds_of(bobbin.pid());
    const auto begin = std::chrono::steady_clock::now();
    PeakWatch watch(bobbin.pid());
    const test::FinishedProcess load = test::run_process(command);
    uses.push_back(watch.peak());
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    const double cpu = cpu_seconds_of(bobbin.pid()) - cpu_before;
    uses.push_back(memory_after(bobbin.pid(), kSoonAfter));
    uses.push_back(memory_after(bobbin.pid(), kLongAfter - kSoonAfter));
    bobbin.send_signal(SIGINT);
    const test::FinishedProcess finished = bobbin.wait();

    const test::ProfileText profile = test::read_pprof(output);
    test::expect_every_tick_accounted_for(profile);
    std::map<std::string, std::uint64_t> counters = test::accounting_of(profile);
    const double with_user_stack = static_cast<double>(
        profile.sample_count() - counters["stack_no_user_stack"] - counters["stack_in_execve"]);
    const double machine = wall.count() * std::thread::hardware_concurrency();
    fmt::print("{}: {:.0f}/s; complete {:.3f} %; agent {:.2f} % of the machine;{}\n", name,
               value_of(load.standard_output, "count") / wall.count(),
               percent(static_cast<double>(counters["stack_bottom"]), with_user_stack),
               percent(cpu, machine), accounts_of(profile));
    fmt::print(
        "    MiB before/peak/{} s/{} s after: RSS {}, of it own {} (stacks {:.1f}); BPF {}\n",
        kSoonAfter.count(), kLongAfter.count(), mebibytes(uses, &MemoryUse::resident_bytes),
        mebibytes(uses, &MemoryUse::own_bytes), mebibytes_of_stacks(finished.standard_error),
        mebibytes(uses, &MemoryUse::bpf_bytes));
    const std::size_t cost = finished.standard_error.find("Cost");
    if (cost != std::string::npos)
        fmt::print("    {}\n", finished.standard_error.substr(
                                   cost, finished.standard_error.find('\n', cost) - cost));
    if (load.exit_status != 0) fmt::print("    load: {}\n", load.standard_error);
    std::fflush(stdout);
}

void print_loads(double seconds) {
    const test::TemporaryDirectory directory;
    const auto red = test::copy_fixture("processes_chain.red.static", directory / "red_program");
    const auto blue = test::copy_fixture("processes_chain.blue.static", directory / "blue_program");
    const auto upgraded = test::copy_fixture("processes_chain.red", directory / "upgraded");
    const auto newer = test::copy_fixture("processes_chain.blue.static", directory / "newer");
    const std::string launcher = fixture_path("processes_launcher");
    const std::string times = fmt::format("{:.0f}", seconds * 10);
    print_load("forks", {fixture_path("processes_children.static"), "forks", "30"});
    print_load("execs", children("execs", seconds, {"/bin/true", "0"}));
    print_load("blink", children("blink", seconds, {red, "15"}));
    print_load("dlopens",
               children("dlopens", seconds, {fixture_path("processes_library.red.so"), "0"}));
    print_load("2,000 idle processes", children("idle", seconds, {"-", "2000"}));
    print_load("one pid again and again", {launcher, "same_pid", times, red, blue, "0.05"});
    print_load("upgrade while it runs",
               {launcher, "upgraded", upgraded, newer, fmt::format("{}", seconds / 2)});
}

int run(double seconds) {
    ::unsetenv("SUDO_UID");
    for (const int busy_loops : {0, 2}) {
        for (const double duration : {5.0, seconds}) {
            print_short_lives("churn", "60", duration, busy_loops);
            print_short_lives("blink", "15", duration, busy_loops);
        }
    }
    print_loads(seconds);
    return testing::Test::HasFailure() ? 1 : 0;
}

}  // namespace
}  // namespace bobbin::bench

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    return bobbin::bench::run(argc > 1 ? std::stod(argv[1]) : 20);
}
