// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string_view>

namespace bobbin::daemon {

// What became of a thread's time so far.
struct ThreadTimes {
    std::chrono::nanoseconds ran{};
    std::chrono::nanoseconds waited_for_cpu{};
    bool is_asleep = false;  // now
};

// The contents of /proc/PID/task/TID/schedstat and stat; nullopt where they are not as expected.
std::optional<ThreadTimes> parse_thread_times(std::string_view schedstat, std::string_view stat);

// Of a thread of this process.
std::optional<ThreadTimes> thread_times(pid_t tid);

}  // namespace bobbin::daemon
