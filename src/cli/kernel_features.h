// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bobbin::cli {

// What this kernel can do, found by trying it, since a release number does not tell: distributions
// backport and switch off.
enum class Support {
    kYes,
    kNo,
    kNotAllowed,  // this process may not even ask
};

struct KernelFeatures {
    Support perf_event_programs = Support::kNotAllowed;
    Support ring_buffers = Support::kNotAllowed;
    Support maps_of_maps = Support::kNotAllowed;
    Support bpf_loop = Support::kNotAllowed;  // from 5.17 on
    int cpu_clock_errno = 0;  // of opening a cpu-clock event on the first CPU; 0: it opened
    // What opening files in time profits from; 0: allowed.
    int run_first_errno = 0;    // of SCHED_FIFO
    int exec_events_errno = 0;  // of fanotify and FAN_OPEN_EXEC
    int seccomp_errno = 0;      // of filters, which take rights from the process that reads names
};

// Loads and unloads a few tiny programs and maps; leaves nothing behind. `may_load_bpf` false: asks
// for nothing of BPF, because libbpf takes "not permitted" for "not there".
KernelFeatures probe_kernel_features(bool may_load_bpf);

}  // namespace bobbin::cli
