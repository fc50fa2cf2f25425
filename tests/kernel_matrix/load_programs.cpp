// SPDX-License-Identifier: Apache-2.0
// What the running kernel's verifier says to each program of bpf/, loaded alone. One line a
// program:
//   on_tick 1417                   accepted; instructions looked at
//   on_tick refused Bad message    libbpf's and the verifier's words are on standard error
#include <bpf/libbpf.h>
#include <profiler.skel.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace {

// The verifier's log of one program with nothing but its figures: BPF_LOG_STATS of the kernel's
// linux/bpf_verifier.h, since 5.2. bpf_prog_info states the number from 5.16 on only.
constexpr __u32 kLogStatistics = 4;
constexpr __u32 kLogBranches = 1;
constexpr __u32 kAllKindsOfTargets = bobbin::abi::TARGET_PROCESSES | bobbin::abi::TARGET_THREADS |
                                     bobbin::abi::TARGET_CGROUPS | bobbin::abi::TARGET_COMMS;

struct DestroySkeleton {
    void operator()(profiler_bpf* skeleton) const { profiler_bpf__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<profiler_bpf, DestroySkeleton>;

Skeleton open_skeleton() {
    Skeleton skeleton(profiler_bpf__open());
    if (skeleton) return skeleton;
    std::perror("open the BPF object");
    std::exit(1);
}

std::vector<std::string> program_names() {
    const Skeleton skeleton = open_skeleton();
    std::vector<std::string> names;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj)
        names.emplace_back(bpf_program__name(program));
    return names;
}

// 0, or the errno with which the kernel refused.
int load_alone(const std::string& name, __u32 log_level, std::vector<char>& log) {
    const Skeleton skeleton = open_skeleton();
    // What is not asked for, the verifier would not look at.
    skeleton->rodata->only_targets = kAllKindsOfTargets;
    skeleton->rodata->numbers_are_translated = 1;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) {
        const bool is_the_one = name == bpf_program__name(program);
        bpf_program__set_autoload(program, is_the_one);
        if (!is_the_one) continue;
        bpf_program__set_log_buf(program, log.data(), log.size());
        bpf_program__set_log_level(program, log_level);
    }
    return -profiler_bpf__load(skeleton.get());
}

// Of "processed 1417 insns (limit 1000000) max_states_per_insn ...", which may not come first.
unsigned long instructions_in(const std::vector<char>& log) {
    constexpr const char* kHead = "processed ";
    const char* const found = std::strstr(log.data(), kHead);
    return found == nullptr ? 0 : std::strtoul(found + std::strlen(kHead), nullptr, 10);
}

// The reason is the last thing that the verifier says.
void print_refusal(const std::string& name) {
    constexpr std::size_t kShownBytes = 2000;
    std::vector<char> log(15U << 20);  // kernels before 5.19 take 16 MiB less one
    load_alone(name, kLogBranches, log);
    const std::size_t length = std::strlen(log.data());
    std::fprintf(stderr, "%s\n", log.data() + length - std::min(length, kShownBytes));
}

int print_warnings(libbpf_print_level level, const char* format, va_list arguments) {
    return level == LIBBPF_WARN ? std::vfprintf(stderr, format, arguments) : 0;
}

}  // namespace

int main() {
    libbpf_set_print(print_warnings);
    for (const std::string& name : program_names()) {
        std::vector<char> log(1U << 16);
        const int failure = load_alone(name, kLogStatistics, log);
        if (failure == 0) {
            std::printf("%s %lu\n", name.c_str(), instructions_in(log));
        } else {
            std::printf("%s refused %s\n", name.c_str(), std::strerror(failure));
            print_refusal(name);
        }
    }
    return 0;
}
