// SPDX-License-Identifier: Apache-2.0
#include "sampler/perf_events.h"

#include <linux/perf_event.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sampler/cpu_clock.h"
#include "sampler/event_opener.h"

namespace bobbin::sampler {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

bool is_denied(const Error& error) {
    return error.code() == std::errc::permission_denied ||
           error.code() == std::errc::operation_not_permitted;
}

// By ourselves, or, where a right is missing, by the opener; if there is none, our own error
// counts.
Result<UniqueFd> open_event(int cpu, std::uint32_t frequency_hz) {
    auto event = open_cpu_clock(cpu, frequency_hz);
    if (event || !is_denied(event.error()) || ::access(kEventOpenerSocket, F_OK) != 0) return event;
    return ask_event_opener(cpu, frequency_hz);
}

Result<> tell(const UniqueFd& event, unsigned long request, const char* attempted) {
    if (::ioctl(event.get(), request, 0) != 0) return fail_with(errno, "{}", attempted);
    return {};
}

// Unplugged since the list was read.
bool is_gone(const Error& error) { return error.code() == std::errc::no_such_device; }

}  // namespace

Result<> PerfEvents::add(int cpu) {
    BOBBIN_TRY(UniqueFd event, open_event(cpu, frequency_hz_));
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

Result<> PerfEvents::set_frequency(std::uint32_t frequency_hz) {
    frequency_hz_ = frequency_hz;
    std::uint64_t period = kNanosecondsPerSecond / frequency_hz;
    for (const auto& [cpu, event] : events_) {
        if (::ioctl(event.get(), PERF_EVENT_IOC_PERIOD, &period) != 0 && errno != ENODEV) {
            return fail_with(errno, "change the rate of CPU {}", cpu);
        }
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
