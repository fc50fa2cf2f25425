// SPDX-License-Identifier: Apache-2.0
// What a sample costs in the kernel, by the kernel's own count of run time (bpf_stats), at 97 Hz.
// The targets are pinned to the last CPU, everything else to the first. The slower one samples, the
// colder the caches: figures at other frequencies do not compare.
//
//   ours       bobbin on the known chain and on 600 frames; slope = cost of a further frame
//   compiler   clang++ -O2 compiling uses of <regex>, again and again: many mappings, cold tables
//   reference  bpf_get_stack over frame pointers on the same 600 frames: 127 frames minus one frame
//
// Ours with rule memory and without; what is between is mappings and tables. Kernel-mode samples
// with the kernel's stack and without. A tick that finds no target still runs the program; its
// cost, from a run whose target is stopped, is taken off.
#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/pinned_target.h"
#include "bench/walk_program_stats.h"
#include "support/profile_readers.h"
#include "support/record_run.h"
#include "walk_reference.skel.h"

namespace bobbin::bench {
namespace {

constexpr int kFrequencyHz = 97;
constexpr int kReferenceFrames = 127;
constexpr int kPasses = 3;

ProgramStats measure_reference(pid_t pid, int program_fd, int seconds) {
    const ProgramStats before = read_program_stats(program_fd);
    {
        const UniqueFd event = attach_to(pid, program_fd, kFrequencyHz);
        ::poll(nullptr, 0, seconds * 1000);
    }
    ProgramStats after = read_program_stats(program_fd);
    after.run_time_ns -= before.run_time_ns;
    after.run_count -= before.run_count;
    return after;
}

struct OurRun {
    ProgramStats stats;
    std::vector<ProgramStats> all_programs;
    std::uint64_t sample_count = 0;
    double frames_a_sample = 0;
};

struct Settings {
    const char* rule_memory = "on";
    bool with_kernel_frames = true;
};

OurRun measure_bobbin(pid_t pid, int seconds, const Settings& settings = {}) {
    const test::TemporaryDirectory directory;
    std::vector<std::string> command{test::program_path(),
                                     "record",
                                     "-F",
                                     std::to_string(kFrequencyHz),
                                     "-d",
                                     std::to_string(seconds),
                                     "-p",
                                     std::to_string(pid),
                                     "-o",
                                     directory / "profile.pb.gz"};
    if (!settings.with_kernel_frames) command.emplace_back("-U");
    test::ChildProcess bobbin(command, {{"BOBBIN_RULE_MEMORY", settings.rule_memory}});
    ProgramsOfProcess programs(bobbin.pid());
    {
        const std::jthread holder([&](const std::stop_token& stop) {
            for (; !stop.stop_requested(); ::poll(nullptr, 0, 50)) programs.hold_new_ones();
        });
        const test::FinishedProcess finished = bobbin.wait();
        if (finished.exit_status != 0) fmt::print(stderr, "{}", finished.standard_error);
    }

    OurRun run;
    run.stats = programs.busiest();
    run.all_programs = programs.all();
    const test::ProfileText profile = test::read_pprof(directory / "profile.pb.gz");
    double frame_count = 0;
    for (const test::Stack& stack : profile.stacks)
        frame_count += static_cast<double>(stack.count * stack.frames.size());
    run.sample_count = profile.sample_count();
    if (run.sample_count != 0)
        run.frames_a_sample = frame_count / static_cast<double>(run.sample_count);
    return run;
}

// Without what the ticks cost that became no sample.
double ns_a_sample(const OurRun& run, double ns_an_idle_tick) {
    if (run.sample_count == 0 || run.stats.run_count < run.sample_count) return 0;
    const auto idle_ticks = static_cast<double>(run.stats.run_count - run.sample_count);
    return (static_cast<double>(run.stats.run_time_ns) - idle_ticks * ns_an_idle_tick) /
           static_cast<double>(run.sample_count);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// One rule-memory setting of a pass.
struct Walks {
    double chain_ns = 0;
    double compiler_ns = 0;
    double compiler_frames = 0;
    double deep_ns = 0;
    double ns_a_frame = 0;
    double fixed_ns = 0;
};

struct Pass {
    double reference_ns_a_frame = 0;
    double reference_one_frame_ns = 0;
    double ns_an_idle_tick = 0;
    double in_kernel_ns = 0;
    double in_kernel_without_its_stack_ns = 0;
    Walks with_memory;
    Walks without_memory;
};

struct Targets {
    PinnedTarget chain{"known_chain.gcc.pie"};
    PinnedTarget deep{"deep_stack.gcc.pie"};
    PinnedTarget deep_with_frame_pointers{"deep_stack.gcc.frame_pointers"};
    PinnedTarget stopped{"known_chain.gcc.pie"};
    PinnedTarget kernel_work{"kernel_work.gcc.pie"};
    PinnedTarget compiler{compiler_in_a_loop()};

    Targets() {
        for (const PinnedTarget* target : all()) target->stop();
    }
    [[nodiscard]] std::vector<const PinnedTarget*> all() const {
        return {&chain, &deep, &deep_with_frame_pointers, &stopped, &kernel_work, &compiler};
    }
};

// Lets one target run during a measurement.
template <class Measure>
auto while_running(const PinnedTarget& target, Measure measure) {
    target.go_on();
    auto result = measure(target.pid());
    target.stop();
    return result;
}

Walks measure_walks(const Targets& targets, double ns_an_idle_tick, int seconds,
                    const char* rule_memory) {
    const auto run = [&](const PinnedTarget& target) {
        return while_running(target, [&](pid_t pid) {
            return measure_bobbin(pid, seconds, {.rule_memory = rule_memory});
        });
    };
    const OurRun chain = run(targets.chain);
    const OurRun deep = run(targets.deep);
    const OurRun compiler = run(targets.compiler);
    Walks walks;
    walks.chain_ns = ns_a_sample(chain, ns_an_idle_tick);
    walks.deep_ns = ns_a_sample(deep, ns_an_idle_tick);
    walks.compiler_ns = ns_a_sample(compiler, ns_an_idle_tick);
    walks.compiler_frames = compiler.frames_a_sample;
    walks.ns_a_frame =
        (walks.deep_ns - walks.chain_ns) / (deep.frames_a_sample - chain.frames_a_sample);
    walks.fixed_ns = walks.chain_ns - chain.frames_a_sample * walks.ns_a_frame;
    fmt::print(
        "rule memory {}: {:.1f} frames {:.0f} ns, {:.1f} frames {:.0f} ns, compiler {:.1f} frames "
        "{:.0f} ns\n",
        rule_memory, chain.frames_a_sample, walks.chain_ns, deep.frames_a_sample, walks.deep_ns,
        walks.compiler_frames, walks.compiler_ns);
    return walks;
}

Pass measure_pass(const Targets& targets, walk_reference_bpf& reference, int seconds) {
    const auto with_reference = [&](const bpf_program* program) {
        const int fd = bpf_program__fd(program);
        return while_running(targets.deep_with_frame_pointers, [&](pid_t pid) {
            return measure_reference(pid, fd, seconds).ns_a_run();
        });
    };
    Pass pass;
    const auto in_kernel = [&](bool with_kernel_frames) {
        const OurRun run = while_running(targets.kernel_work, [&](pid_t pid) {
            return measure_bobbin(pid, seconds, {.with_kernel_frames = with_kernel_frames});
        });
        return ns_a_sample(run, pass.ns_an_idle_tick);
    };
    pass.reference_one_frame_ns = with_reference(reference.progs.walk_one_frame);
    pass.reference_ns_a_frame =
        (with_reference(reference.progs.walk_all_frames) - pass.reference_one_frame_ns) /
        (kReferenceFrames - 1);
    pass.ns_an_idle_tick = measure_bobbin(targets.stopped.pid(), seconds).stats.ns_a_run();
    pass.with_memory = measure_walks(targets, pass.ns_an_idle_tick, seconds, "on");
    pass.without_memory = measure_walks(targets, pass.ns_an_idle_tick, seconds, "off");
    pass.in_kernel_ns = in_kernel(true);
    pass.in_kernel_without_its_stack_ns = in_kernel(false);
    return pass;
}

template <class Figure>
double median_of(const std::vector<Pass>& passes, Figure figure) {
    std::vector<double> values;
    for (const Pass& pass : passes) values.push_back(std::invoke(figure, pass));
    return median(values);
}

void print_programs(pid_t pid) {
    fmt::print("instructions the verifier looked at (limit 1,000,000)\n");
    for (const ProgramStats& program : measure_bobbin(pid, 1).all_programs)
        fmt::print("  {:<34}{:8}\n", program.name, program.verified_instructions);
}

void print_walks(const char* title, const std::vector<Pass>& passes, Walks Pass::* walks) {
    const auto print_ns = [&](const char* what, double Walks::* figure) {
        fmt::print("  {:<34}{:8.1f} ns\n", what,
                   median_of(passes, [&](const Pass& pass) { return pass.*walks.*figure; }));
    };
    fmt::print("{}\n", title);
    print_ns("sample of the known chain", &Walks::chain_ns);
    print_ns("  of that, fixed", &Walks::fixed_ns);
    print_ns("sample of 600 frames", &Walks::deep_ns);
    print_ns("sample of the compiler", &Walks::compiler_ns);
    print_ns("a further frame", &Walks::ns_a_frame);
    fmt::print("  {:<34}{:8.2f}\n", "  as a share of the kernel's",
               median_of(passes, [&](const Pass& pass) {
                   return (pass.*walks).ns_a_frame / pass.reference_ns_a_frame;
               }));
}

void print_medians(const std::vector<Pass>& passes) {
    const auto print_ns = [&](const char* what, double Pass::* figure) {
        fmt::print("  {:<34}{:8.1f} ns\n", what, median_of(passes, figure));
    };
    fmt::print("\nmedian of {} passes at {} Hz\n", kPasses, kFrequencyHz);
    print_walks("with rule memory", passes, &Pass::with_memory);
    print_walks("without", passes, &Pass::without_memory);
    fmt::print("either way\n");
    print_ns("tick without a sample", &Pass::ns_an_idle_tick);
    print_ns("sample in the kernel", &Pass::in_kernel_ns);
    print_ns("  without the kernel's stack", &Pass::in_kernel_without_its_stack_ns);
    print_ns("kernel's walk, one frame", &Pass::reference_one_frame_ns);
    print_ns("kernel's walk, a further frame", &Pass::reference_ns_a_frame);
}

int measure(int seconds) {
    const UniqueFd stats(bpf_enable_stats(BPF_STATS_RUN_TIME));
    const std::unique_ptr<walk_reference_bpf, void (*)(walk_reference_bpf*)> reference(
        walk_reference_bpf__open_and_load(), walk_reference_bpf__destroy);
    if (!stats.is_open() || !reference) {
        fmt::print(stderr, "cannot load BPF programs: run as root\n");
        return 77;
    }
    const Targets targets;
    pin_to_first_cpu();
    std::vector<Pass> passes;
    print_programs(targets.stopped.pid());
    for (int i = 0; i < kPasses; ++i) passes.push_back(measure_pass(targets, *reference, seconds));
    print_medians(passes);
    return 0;
}

}  // namespace
}  // namespace bobbin::bench

int main(int argc, char** argv) {
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 8;
    return bobbin::bench::measure(std::max(seconds, 1));
}
