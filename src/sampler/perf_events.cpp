// SPDX-License-Identifier: Apache-2.0
#include "sampler/perf_events.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>

namespace bobbin::sampler {
namespace {

constexpr int kMaxCpus = 8192;  // NR_CPUS of distribution kernels
constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

Result<UniqueFd> open_clock(int cpu, std::uint32_t frequency_hz) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    // A period and not `freq`: the kernel would refuse frequencies above
    // perf_event_max_sample_rate, and the period of a clock needs no adjusting.
    attributes.sample_period = kNanosecondsPerSecond / frequency_hz;
    attributes.disabled = 1;
    attributes.exclude_idle = 1;
    attributes.exclude_guest = 1;
    const auto fd = ::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return fail_with(errno, "perf_event_open on CPU {}", cpu);
    return UniqueFd(static_cast<int>(fd));
}

bool parse_cpu(std::string_view text, int& cpu) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
    return error == std::errc{} && end == text.data() + text.size() && cpu >= 0 && cpu < kMaxCpus;
}

}  // namespace

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    while (text.ends_with('\n')) text.remove_suffix(1);
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::string_view range = text.substr(0, comma);
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
        const auto dash = range.find('-');
        int first = 0;
        int last = 0;
        if (!parse_cpu(range.substr(0, dash), first)) return fail("bad CPU list '{}'", range);
        last = first;
        if (dash != std::string_view::npos && !parse_cpu(range.substr(dash + 1), last)) {
            return fail("bad CPU list '{}'", range);
        }
        for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    }
    if (cpus.empty()) return fail("empty CPU list");
    return cpus;
}

Result<std::vector<int>> online_cpus() {
    std::ifstream file("/sys/devices/system/cpu/online");
    std::string text;
    if (!std::getline(file, text)) return fail("read /sys/devices/system/cpu/online");
    return parse_cpu_list(text);
}

Result<PerfEvents> PerfEvents::open(const std::vector<int>& cpus, std::uint32_t frequency_hz,
                                    int program_fd) {
    std::vector<UniqueFd> events;
    for (const int cpu : cpus) {
        auto event = open_clock(cpu, frequency_hz);
        if (!event) {
            // Unplugged since the list was read.
            if (event.error().code() == std::errc::no_such_device) continue;
            return fail(std::move(event).error());
        }
        if (::ioctl(event->get(), PERF_EVENT_IOC_SET_BPF, program_fd) != 0) {
            return fail_with(errno, "attach the tick program on CPU {}", cpu);
        }
        events.push_back(std::move(*event));
    }
    return PerfEvents(std::move(events));
}

Result<> PerfEvents::start() {
    for (const UniqueFd& event : events_) {
        if (::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) {
            return fail_with(errno, "start sampling");
        }
    }
    return {};
}

Result<> PerfEvents::stop() {
    for (const UniqueFd& event : events_) {
        if (::ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0) != 0) {
            return fail_with(errno, "stop sampling");
        }
    }
    return {};
}

}  // namespace bobbin::sampler
