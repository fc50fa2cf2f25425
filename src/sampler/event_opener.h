// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::sampler {

// From kernel.perf_event_paranoid 3 on, which Debian's and Ubuntu's kernels have, opening an event
// takes CAP_SYS_ADMIN; using one that is open takes CAP_PERFMON and CAP_BPF alone. So that the
// service need not run with the former, `bobbin event-opener` has it: it is started by systemd when
// somebody connects to kEventOpenerSocket (who may, the socket's mode says), opens the cpu-clock of
// one CPU for each who asks, hands it over, and can do nothing else. It ends when nobody asked for
// a while.
inline constexpr const char* kEventOpenerArgument = "event-opener";
inline constexpr const char* kEventOpenerSocket = "/run/bobbin-events.sock";

// How a service manager hands over the socket: sd_listen_fds(3).
inline constexpr int kListeningFd = 3;

// Answers who connects to `listening_fd`, one after the other, until nobody did for `patience_ms`.
// -1: for ever, or until the socket is shut down. Gives an exit status.
int serve_event_opener(int listening_fd, int patience_ms = 10'000);

// Error code ENOENT or ECONNREFUSED: there is no opener. Else what kept it from opening the event.
Result<UniqueFd> ask_event_opener(int cpu, std::uint32_t frequency_hz,
                                  const char* socket_path = kEventOpenerSocket);

}  // namespace bobbin::sampler
