// SPDX-License-Identifier: Apache-2.0
// What a step of a walk costs in user space: the C of bpf/ with its tables, libunwind with its
// cache, libdw. All walk the same recorded stacks, 2,000 of a compiler's: registers and stack as
// they were at the first instructions of that many functions. Prints ns a frame; asserts nothing.
//   bench_unwind [PROGRAM ARGUMENT...]    by default g++'s cc1plus, which compiles a fixture
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "bpf_host/traced_mappings.h"
#include "bpf_host/traced_process.h"
#include "bpf_host/walk_tables.h"
#include "differential/function_starts.h"
#include "differential/libdw_oracle.h"
#include "differential/stopped_thread.h"
#include "unwind_bench_libunwind.h"

namespace bobbin::test {
namespace {

constexpr std::size_t kMostStacks = 2000;
constexpr std::size_t kSkippedHits = 2000;  // of the start, where stacks are shallow
constexpr std::size_t kFunctionsOfAFile = 200000;
constexpr int kLeastRounds = 4;
constexpr std::chrono::seconds kMeasuredTime{2};

using Stacks = std::deque<StoppedThread>;

struct Cost {
    double ns_a_frame = 0;
    std::uint64_t frames = 0;
};

// The best round of two seconds, for everybody: what else runs on the machine only ever adds. With
// `repeats` > 1 a stack is walked that often in a row, as a profiler meets the stack of a running
// thread: in the cache.
template <class Walk>
Cost measure(const Stacks& stacks, int repeats, const Walk& walk) {
    using Clock = std::chrono::steady_clock;
    Cost best;
    const auto first_begin = Clock::now();
    for (int round = 0; round < kLeastRounds || Clock::now() - first_begin < kMeasuredTime;
         ++round) {
        std::uint64_t frames = 0;
        const auto begin = Clock::now();
        for (const StoppedThread& stack : stacks) {
            for (int i = 0; i < repeats; ++i) frames += walk(stack);
        }
        const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
        const double ns = took.count() / static_cast<double>(std::max<std::uint64_t>(frames, 1));
        // The first round fills caches.
        if (round == 1 || (round > 1 && ns < best.ns_a_frame)) best = {ns, frames};
    }
    return best;
}

struct Ours {
    Cost with_memory;
    Cost without;
};

void print(const char* what, const Cost& cost, const Ours& ours) {
    fmt::print("{:28} {:8} frames {:8.1f} ns a frame {:6.1f} x {:6.1f} x\n", what, cost.frames,
               cost.ns_a_frame, cost.ns_a_frame / ours.with_memory.ns_a_frame,
               cost.ns_a_frame / ours.without.ns_a_frame);
}

Stacks record(TracedProcess& process, std::vector<TracedMapping>& mappings) {
    FunctionStarts functions(kFunctionsOfAFile);
    Stacks stacks;
    const std::vector<std::uint64_t> entry{process.entry_vaddr()};
    process.set_breakpoints(entry);
    process.run_to_breakpoint();
    mappings = read_mappings(process.pid());
    process.set_breakpoints(functions.new_in(mappings));
    for (std::size_t hit = 0; stacks.size() < kMostStacks; ++hit) {
        const auto thread = process.run_to_breakpoint();
        if (!thread) break;
        if (hit < kSkippedHits) continue;
        mappings = read_mappings(process.pid());
        stacks.emplace_back(process, mappings, *thread);
    }
    return stacks;
}

void compare(TracedProcess& process) {
    std::vector<TracedMapping> mappings;
    const Stacks stacks = record(process, mappings);
    if (!process.is_alive() || stacks.empty()) {
        fmt::print("the program ended after {} stacks: it has to live longer\n", stacks.size());
        return;
    }
    WalkTables tables;
    const auto walk_mappings = tables.mappings_of(process, mappings);
    const auto vdso = std::ranges::find(mappings, "[vdso]", &TracedMapping::path);
    const user_walk::unwind_tables used = tables.tables();
    user_walk::use_unwind_tables(&used);
    user_walk::walk_process view{.mappings = walk_mappings.data(),
                                 .mapping_count = walk_mappings.size(),
                                 .vdso_vaddr = vdso == mappings.end() ? 0 : vdso->start_vaddr,
                                 .start_stack_vaddr = read_start_stack(process.pid()),
                                 .stack_vaddr = 0,
                                 .stack_bytes = 0,
                                 .stack = nullptr,
                                 .read_elsewhere = nullptr,
                                 .elsewhere = nullptr};
    LibdwOracle libdw(process);
    CachedLibunwind by_thread(process, UNW_CACHE_PER_THREAD);
    CachedLibunwind by_all(process, UNW_CACHE_GLOBAL);
    for (const int repeats : {1, 20}) {
        fmt::print("each stack {} in a row; x: beside bobbin with rule memory, and without\n",
                   repeats == 1 ? "once" : "20 times");
        const auto by = [&](auto walk) {
            return measure(stacks, repeats, [&](const StoppedThread& stack) {
                view.stack_vaddr = stack.stack_vaddr();
                view.stack_bytes = stack.stack().size();
                view.stack = stack.stack().data();
                return std::uint64_t{walk(&view, stack.registers().data())};
            });
        };
        const Ours ours{.with_memory = by(user_walk::walk_stack_again),
                        .without = by(user_walk::walk_stack)};
        print("bobbin, with rule memory", ours.with_memory, ours);
        print("bobbin, without", ours.without, ours);
        const auto with = [&](CachedLibunwind& libunwind) {
            return measure(stacks, repeats,
                           [&](const StoppedThread& stack) { return libunwind.walk(stack); });
        };
        const Cost for_thread = with(by_thread);
        const Cost for_all = with(by_all);
        const bool is_thread_best = for_thread.ns_a_frame < for_all.ns_a_frame;
        print(is_thread_best ? "libunwind, cached a thread" : "libunwind, cached for all",
              is_thread_best ? for_thread : for_all, ours);
        const auto count_frames = [&](const StoppedThread& stack) {
            return std::uint64_t{libdw.walk(stack).frames.size()};
        };
        print("libdw", measure(stacks, repeats, count_frames), ours);
    }
}

}  // namespace
}  // namespace bobbin::test

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.empty()) {
        arguments = {"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
                     "-quiet",
                     "-O2",
                     "-std=c++20",
                     "-imultiarch",
                     "x86_64-linux-gnu",
                     "-include",
                     "regex",
                     BOBBIN_BENCH_SOURCE,
                     "-o",
                     "/dev/null"};
    }
    bobbin::test::TracedProcess process(arguments);
    if (process.is_alive()) bobbin::test::compare(process);
}
