// SPDX-License-Identifier: Apache-2.0
#include "bench/pinned_target.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "support/record_run.h"

namespace bobbin::bench {
namespace {

std::vector<std::string> on_last_cpu(std::vector<std::string> command) {
    const long last_cpu = ::sysconf(_SC_NPROCESSORS_ONLN) - 1;
    command.insert(command.begin(), {"taskset", "-c", std::to_string(last_cpu)});
    return command;
}

constexpr const char* kSource = R"(
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
template <int N>
std::size_t count(const std::string& text) {
    const std::regex pattern("a([b-d]+)e*" + std::to_string(N));
    std::smatch found;
    std::map<std::string, std::vector<int>> by_text;
    if (std::regex_search(text, found, pattern)) by_text[found[0]].push_back(N);
    return by_text.size() + count<N - 1>(text);
}
template <>
std::size_t count<0>(const std::string&) {
    return 0;
}
int main(int, char** arguments) { std::cout << count<20>(arguments[0]); }
)";

}  // namespace

PinnedTarget::PinnedTarget(const std::string& fixture)
    : PinnedTarget(std::vector{test::fixture_path(fixture)}) {}

PinnedTarget::PinnedTarget(std::vector<std::string> command)
    : process_(on_last_cpu(std::move(command))) {
    if (!process_.wait_for_output("running")) fmt::print(stderr, "a target did not start\n");
}

void PinnedTarget::stop() const { ::kill(-process_.pid(), SIGSTOP); }
void PinnedTarget::go_on() const { ::kill(-process_.pid(), SIGCONT); }

// Children of a target are targets from the fork on: the shell itself has to be the one that forks.
std::vector<std::string> compiler_in_a_loop() {
    return {"sh", "-c",
            "echo running; while :; do printf %s \"$1\" | " BOBBIN_BENCH_CLANGXX
            " -std=c++20 -O2 -w -x c++ -c -o /dev/null -; done",
            "sh", kSource};
}

void pin_to_first_cpu() {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    ::sched_setaffinity(0, sizeof(first), &first);
}

UniqueFd attach_to(pid_t pid, int program_fd, unsigned frequency_hz) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.freq = 1;
    attributes.sample_freq = frequency_hz;
    UniqueFd event(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!event.is_open() || ::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program_fd) != 0)
        fmt::print(stderr, "cannot attach a program\n");
    return event;
}

}  // namespace bobbin::bench
