// SPDX-License-Identifier: Apache-2.0
#include "sampler/cpu_clock.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bobbin::sampler {

Result<UniqueFd> open_cpu_clock(int cpu, std::uint32_t frequency_hz) {
    constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
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

}  // namespace bobbin::sampler
