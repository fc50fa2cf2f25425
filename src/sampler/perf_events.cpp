// SPDX-License-Identifier: Apache-2.0
#include "sampler/perf_events.h"

#include <linux/perf_event.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bobbin::sampler {
namespace {

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

Result<> tell(const UniqueFd& event, unsigned long request, const char* attempted) {
    if (::ioctl(event.get(), request, 0) != 0) return fail_with(errno, "{}", attempted);
    return {};
}

// Unplugged since the list was read.
bool is_gone(const Error& error) { return error.code() == std::errc::no_such_device; }

}  // namespace

Result<> PerfEvents::add(int cpu) {
    BOBBIN_TRY(UniqueFd event, open_clock(cpu, frequency_hz_));
    if (::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program_fd_) != 0) {
        return fail_with(errno, "attach the tick program on CPU {}", cpu);
    }
    if (running_) BOBBIN_CHECK(tell(event, PERF_EVENT_IOC_ENABLE, "start sampling"));
    events_.insert_or_assign(cpu, std::move(event));
    return {};
}

Result<PerfEvents> PerfEvents::open(const std::vector<int>& cpus, std::uint32_t frequency_hz,
                                    int program_fd) {
    PerfEvents events(frequency_hz, program_fd);
    for (const int cpu : cpus) {
        auto added = events.add(cpu);
        if (!added && !is_gone(added.error())) return fail(std::move(added).error());
    }
    return events;
}

Result<> PerfEvents::start() {
    running_ = true;
    for (const auto& [cpu, event] : events_) {
        BOBBIN_CHECK(tell(event, PERF_EVENT_IOC_ENABLE, "start sampling"));
    }
    return {};
}

Result<> PerfEvents::stop() {
    running_ = false;
    for (const auto& [cpu, event] : events_) {
        BOBBIN_CHECK(tell(event, PERF_EVENT_IOC_DISABLE, "stop sampling"));
    }
    return {};
}

void PerfEvents::follow_online_cpus() {
    const auto replugged = watch_.take_replugged(cpus());
    const auto online = online_cpus();
    if (online) follow(*online, replugged);
}

void PerfEvents::follow(std::span<const int> online, std::span<const int> replugged) {
    for (const int cpu : replugged) given_up_.erase(cpu);
    const CpuChanges changes = changes_between(cpus(), online, replugged);
    for (const int cpu : changes.to_close) events_.erase(cpu);
    for (const int cpu : changes.to_open) {
        if (given_up_.contains(cpu)) continue;
        const auto added = add(cpu);
        if (added || is_gone(added.error())) continue;
        spdlog::warn("CPU {} is not sampled: {}", cpu, added.error().message());
        given_up_.insert(cpu);
    }
}

std::vector<int> PerfEvents::cpus() const {
    std::vector<int> cpus;
    cpus.reserve(events_.size());
    for (const auto& [cpu, event] : events_) cpus.push_back(cpu);
    return cpus;
}

}  // namespace bobbin::sampler
