// SPDX-License-Identifier: Apache-2.0
// What the parts of a sample cost in the kernel, at 97 Hz, on the targets of walk_cost: bobbin with
// timed_walk.bpf.c in place of its BPF object. The cost of looking at the clock is taken off. "The
// rest" is what is left of the program's run time: arithmetic, rule memory, counters.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/pinned_target.h"
#include "bench/timed_parts.h"
#include "bench/walk_program_stats.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::bench {
namespace {

constexpr int kFrequencyHz = 97;

using Parts = std::array<timed_part, PART_COUNT>;

// The newest map of that name, once it is there.
UniqueFd newest_map(std::string_view name) {
    UniqueFd newest;
    for (std::uint32_t id = 0; bpf_map_get_next_id(id, &id) == 0;) {
        UniqueFd map(bpf_map_get_fd_by_id(id));
        bpf_map_info info{};
        std::uint32_t size = sizeof(info);
        if (bpf_obj_get_info_by_fd(map.get(), &info, &size) == 0 && info.name == name)
            newest = std::move(map);
    }
    return newest;
}

Parts read_parts(int map) {
    const auto cpu_count = static_cast<std::size_t>(libbpf_num_possible_cpus());
    Parts parts{};
    std::vector<timed_part> by_cpu(cpu_count);
    for (std::uint32_t part = 0; part < PART_COUNT; ++part) {
        if (bpf_map_lookup_elem(map, &part, by_cpu.data()) != 0) continue;
        for (const timed_part& sum : by_cpu) {
            parts[part].total_ns += sum.total_ns;
            parts[part].count += sum.count;
        }
    }
    return parts;
}

struct TimedRun {
    Parts parts{};
    std::uint64_t run_time_ns = 0;
    std::uint64_t sample_count = 0;
    double frames_a_sample = 0;
};

TimedRun measure(pid_t pid, int seconds, const char* rule_memory) {
    const test::TemporaryDirectory directory;
    test::ChildProcess bobbin(
        {BOBBIN_TIMED, "record", "-F", std::to_string(kFrequencyHz), "-d", std::to_string(seconds),
         "-p", std::to_string(pid), "-o", directory / "profile.pb.gz"},
        {{"BOBBIN_RULE_MEMORY", rule_memory}});
    ProgramsOfProcess programs(bobbin.pid());
    UniqueFd map;
    {
        const std::jthread holder([&](const std::stop_token& stop) {
            for (; !stop.stop_requested(); ::poll(nullptr, 0, 50)) {
                programs.hold_new_ones();
                if (UniqueFd found = newest_map("timed_parts"); found.is_open())
                    map = std::move(found);
            }
        });
        const test::FinishedProcess finished = bobbin.wait();
        if (finished.exit_status != 0) fmt::print(stderr, "{}", finished.standard_error);
    }
    TimedRun run;
    if (map.is_open()) run.parts = read_parts(map.get());
    run.run_time_ns = programs.busiest().run_time_ns;
    const test::ProfileText profile = test::read_pprof(directory / "profile.pb.gz");
    run.sample_count = profile.sample_count();
    double frame_count = 0;
    for (const test::Stack& stack : profile.stacks)
        frame_count += static_cast<double>(stack.count * stack.frames.size());
    if (run.sample_count != 0)
        run.frames_a_sample = frame_count / static_cast<double>(run.sample_count);
    return run;
}

// Without the clock's own cost; ns a sample.
struct Shares {
    double clock_ns = 0;  // a pair of looks
    double of_part(const TimedRun& run, timed_part_number part) const {
        const timed_part& sum = run.parts[part];
        return (static_cast<double>(sum.total_ns) - static_cast<double>(sum.count) * clock_ns) /
               static_cast<double>(run.sample_count);
    }
};

void print(std::string_view target, const char* rule_memory, const TimedRun& run) {
    if (run.sample_count == 0 || run.parts[PART_CLOCK].count == 0) {
        fmt::print("{:<24} no samples\n", target);
        return;
    }
    const timed_part& clock = run.parts[PART_CLOCK];
    const Shares shares{static_cast<double>(clock.total_ns) / static_cast<double>(clock.count)};
    const double kernel_stack = shares.of_part(run, PART_KERNEL_STACK);
    // The pair around the kernel's stack costs inside PART_BEGIN what one look does on each side.
    const double begin = shares.of_part(run, PART_BEGIN) - kernel_stack -
                         2 * shares.clock_ns *
                             static_cast<double>(run.parts[PART_KERNEL_STACK].count) /
                             static_cast<double>(run.sample_count);
    const auto times = [&](timed_part_number part) {
        return static_cast<double>(run.parts[part].count) / static_cast<double>(run.sample_count);
    };
    fmt::print(
        "{:<12}{:>7}{:>8}{:>7.1f}{:>9.0f}{:>9.0f}{:>9.0f} {:<6.1f}{:>8.0f} {:<6.1f}{:>8.0f} "
        "{:<6.1f}{:>8.0f}{:>10.0f}\n",
        target, rule_memory, run.sample_count, run.frames_a_sample, begin, kernel_stack,
        shares.of_part(run, PART_MAPPINGS), times(PART_MAPPINGS), shares.of_part(run, PART_TABLES),
        times(PART_TABLES), shares.of_part(run, PART_STACK_READS), times(PART_STACK_READS),
        shares.of_part(run, PART_OUTPUT),
        static_cast<double>(run.run_time_ns) / static_cast<double>(run.sample_count));
}

int measure_all(int seconds) {
    const UniqueFd stats(bpf_enable_stats(BPF_STATS_RUN_TIME));
    if (!stats.is_open()) {
        fmt::print(stderr, "cannot read statistics of BPF programs: run as root\n");
        return 77;
    }
    const PinnedTarget chain("known_chain.gcc.pie");
    const PinnedTarget deep("deep_stack.gcc.pie");
    const PinnedTarget kernel_work("kernel_work.gcc.pie");
    const PinnedTarget compiler(compiler_in_a_loop());
    const std::array targets = {std::pair{"chain", &chain}, std::pair{"deep", &deep},
                                std::pair{"kernel", &kernel_work},
                                std::pair{"compiler", &compiler}};
    for (const auto& [name, target] : targets) target->stop();
    pin_to_first_cpu();
    fmt::print(
        "ns a sample; behind it, how often a sample\n"
        "{:<12}{:>7}{:>8}{:>7}{:>9}{:>9}{:>9} {:<6}{:>8} {:<6}{:>8} {:<6}{:>8}{:>10}\n",
        "target", "memory", "samples", "frames", "begin", "kernel", "mapping", "", "tables", "",
        "reads", "", "output", "with clock");
    for (const auto& [name, target] : targets) {
        for (const char* rule_memory : {"on", "off"}) {
            target->go_on();
            const TimedRun run = measure(target->pid(), seconds, rule_memory);
            target->stop();
            print(name, rule_memory, run);
        }
    }
    return 0;
}

}  // namespace
}  // namespace bobbin::bench

int main(int argc, char** argv) {
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 8;
    return bobbin::bench::measure_all(std::max(seconds, 1));
}
