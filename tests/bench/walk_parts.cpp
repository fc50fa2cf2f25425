// SPDX-License-Identifier: Apache-2.0
// What the parts of a sample cost in the kernel, at 97 Hz, with the targets pinned to the last CPU
// (walk_cost.cpp has the whole without the clock that is read here around each part):
//
//   mapping      meet_mapping(): the task's tree, the file's number
//   stack reads  fill_window(): bpf_probe_read_user of a window
//   output       one record written to a ring buffer, measured beside
//   tables       the rest: rules looked up and applied, and what is done once a sample
//
// Each part's own clock, read twice, is taken off. The kernel's stack: walk_cost.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/pinned_target.h"
#include "bench/walk_program_stats.h"
#include "support/record_run.h"
#include "walk_parts.skel.h"

namespace bobbin::bench {
namespace {

constexpr unsigned kFrequencyHz = 97;
constexpr int kMostPolls = 200;
// As in walk_parts.bpf.c.
enum Part { kTick, kMapping, kStackReads, kOutput, kClock, kPartCount };
struct PartCost {
    std::uint64_t start_ns = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t calls = 0;
};
using Costs = std::array<PartCost, kPartCount>;

using Skeleton = std::unique_ptr<walk_parts_bpf, void (*)(walk_parts_bpf*)>;

// nullptr: it cannot be loaded, and libbpf has said why.
Skeleton load_for(int program_fd) {
    Skeleton skeleton(walk_parts_bpf__open(), walk_parts_bpf__destroy);
    if (!skeleton) return skeleton;
    const auto& programs = skeleton->progs;
    const std::initializer_list<std::pair<bpf_program*, const char*>> targets{
        {programs.begin_tick, "on_tick"},           {programs.end_tick, "on_tick"},
        {programs.begin_mapping, "meet_mapping"},   {programs.end_mapping, "meet_mapping"},
        {programs.begin_stack_read, "fill_window"}, {programs.end_stack_read, "fill_window"},
    };
    for (const auto& [program, function] : targets) {
        if (bpf_program__set_attach_target(program, program_fd, function) != 0)
            return {nullptr, {}};
    }
    if (walk_parts_bpf__load(skeleton.get()) != 0) return {nullptr, walk_parts_bpf__destroy};
    return skeleton;
}

Costs read_costs(const walk_parts_bpf& skeleton) {
    Costs costs;
    const auto cpu_count = static_cast<std::size_t>(libbpf_num_possible_cpus());
    for (std::uint32_t part = 0; part < kPartCount; ++part) {
        std::vector<PartCost> by_cpu(cpu_count);
        if (bpf_map_lookup_elem(bpf_map__fd(skeleton.maps.part_costs), &part, by_cpu.data()) != 0)
            continue;
        for (const PartCost& cost : by_cpu) {
            costs[part].total_ns += cost.total_ns;
            costs[part].calls += cost.calls;
        }
    }
    return costs;
}

// Of one sample. `clock_ns` is what reading the clock around nothing takes.
void print_part(const char* name, const PartCost& part, std::uint64_t samples, double clock_ns) {
    const double calls = static_cast<double>(part.calls) / static_cast<double>(samples);
    const double ns = static_cast<double>(part.total_ns) / static_cast<double>(samples);
    fmt::print("  {:<12}{:8.0f} ns  {:5.2f} a sample\n", name, ns - calls * clock_ns, calls);
}

void print_costs(const std::string& title, const Costs& costs) {
    const std::uint64_t samples = costs[kTick].calls;
    if (samples == 0 || costs[kClock].calls == 0) {
        fmt::print("{}: no sample\n", title);
        return;
    }
    const double clock_ns =
        static_cast<double>(costs[kClock].total_ns) / static_cast<double>(costs[kClock].calls);
    fmt::print("{}: {} ticks, clock {:.0f} ns\n", title, samples, clock_ns);
    print_part("tick", costs[kTick], samples, clock_ns);
    print_part("mapping", costs[kMapping], samples, clock_ns);
    print_part("stack reads", costs[kStackReads], samples, clock_ns);
    PartCost output = costs[kOutput];
    output.total_ns = output.total_ns * samples / std::max<std::uint64_t>(output.calls, 1);
    output.calls = samples;
    print_part("output", output, samples, clock_ns);
    PartCost rest = costs[kTick];
    const double inner_clocks =
        static_cast<double>(costs[kMapping].calls + costs[kStackReads].calls);
    const auto others = costs[kMapping].total_ns + costs[kStackReads].total_ns + output.total_ns +
                        static_cast<std::uint64_t>(inner_clocks * clock_ns);
    rest.total_ns -= std::min(rest.total_ns, others);
    print_part("the rest", rest, samples, 0);
}

void measure(const std::string& title, const PinnedTarget& target, int seconds,
             const char* rule_memory) {
    const test::TemporaryDirectory directory;
    target.go_on();
    test::ChildProcess bobbin(
        {test::program_path(), "record", "-q", "-F", std::to_string(kFrequencyHz), "-p",
         std::to_string(target.pid()), "-o", directory / "profile.pb.gz"},
        {{"BOBBIN_RULE_MEMORY", rule_memory}});
    ProgramsOfProcess programs(bobbin.pid());
    for (int polls = 0; polls < kMostPolls && programs.busiest().run_count == 0; ++polls) {
        ::poll(nullptr, 0, 50);
        programs.hold_new_ones();
    }
    const Skeleton skeleton = load_for(programs.fd_of_busiest());
    if (skeleton && walk_parts_bpf__attach(skeleton.get()) == 0) {
        const UniqueFd event =
            attach_to(target.pid(), bpf_program__fd(skeleton->progs.write_record), kFrequencyHz);
        ::poll(nullptr, 0, seconds * 1000);
        print_costs(title, read_costs(*skeleton));
    }
    bobbin.send_signal(SIGINT);
    bobbin.wait();
    target.stop();
}

int measure_all(int seconds) {
    // The kernel counts runs, by which a program at work is told from its fallback.
    const UniqueFd stats(bpf_enable_stats(BPF_STATS_RUN_TIME));
    if (!stats.is_open()) {
        fmt::print(stderr, "cannot switch bpf_stats on: run as root\n");
        return 77;
    }
    const PinnedTarget chain("known_chain.gcc.pie");
    chain.stop();
    const PinnedTarget compiler(compiler_in_a_loop());
    compiler.stop();
    pin_to_first_cpu();
    for (const char* memory : {"on", "off"}) {
        const std::string with = fmt::format(", rule memory {}", memory);
        measure("known chain" + with, chain, seconds, memory);
        measure("compiler" + with, compiler, seconds, memory);
    }
    return 0;
}

}  // namespace
}  // namespace bobbin::bench

int main(int argc, char** argv) {
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 20;
    return bobbin::bench::measure_all(std::max(seconds, 1));
}
