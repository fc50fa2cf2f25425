// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_features.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"
#include "executable/exec_events.h"
#include "executable/run_first.h"

namespace bobbin::cli {
namespace {

// libbpf's probes give 1, 0 or a negated errno.
Support support_of(int probe_result) {
    if (probe_result == -EPERM) return Support::kNotAllowed;
    return probe_result == 1 ? Support::kYes : Support::kNo;
}

// The event that sampling uses, counting nothing: of all tasks on CPU 0, which every machine has.
int try_cpu_clock() {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.disabled = 1;
    const long fd = ::syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return errno;
    const UniqueFd event(static_cast<int>(fd));
    return 0;
}

int errno_of(const Result<>& result) { return result ? 0 : result.error().code().value(); }

// On a thread of its own, which takes the priority with it.
int try_to_run_first() {
    int code = 0;
    std::thread([&code] { code = errno_of(executable::run_first()); }).join();
    return code;
}

int try_exec_events() {
    const auto events = executable::ExecEvents::open();
    return events ? 0 : events.error().code().value();
}

int try_seccomp() {
    const std::uint32_t refusing = SECCOMP_RET_ERRNO;
    return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &refusing) == 0 ? 0 : errno;
}

}  // namespace

KernelFeatures probe_kernel_features(bool may_load_bpf) {
    KernelFeatures features;
    features.cpu_clock_errno = try_cpu_clock();
    features.run_first_errno = try_to_run_first();
    features.exec_events_errno = try_exec_events();
    features.seccomp_errno = try_seccomp();
    if (!may_load_bpf) return features;
    const libbpf_print_fn_t printer = libbpf_set_print(nullptr);
    features.perf_event_programs =
        support_of(libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_PERF_EVENT, nullptr));
    features.ring_buffers = support_of(libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, nullptr));
    features.maps_of_maps =
        support_of(libbpf_probe_bpf_map_type(BPF_MAP_TYPE_ARRAY_OF_MAPS, nullptr));
    features.bpf_loop =
        support_of(libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, nullptr));
    libbpf_set_print(printer);
    return features;
}

}  // namespace bobbin::cli
