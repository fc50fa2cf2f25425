// SPDX-License-Identifier: Apache-2.0
#include "daemon/thread_times.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/parse_number.h"
#include "base/unique_fd.h"
#include "daemon/proc_stat.h"

namespace bobbin::daemon {
namespace {

std::string read_text(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> text{};
    const ssize_t length = fd.is_open() ? ::read(fd.get(), text.data(), text.size()) : 0;
    return {text.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

// `schedstat`: "ran waited slices", nanoseconds.
std::optional<ThreadTimes> parse_thread_times(std::string_view schedstat, std::string_view stat) {
    const auto ran = take_number<std::int64_t>(schedstat);
    if (schedstat.starts_with(' ')) schedstat.remove_prefix(1);
    const auto waited = take_number<std::int64_t>(schedstat);
    const std::string_view state = behind_name(stat);
    if (!ran || !waited || state.empty()) return std::nullopt;
    return ThreadTimes{.ran = std::chrono::nanoseconds{*ran},
                       .waited_for_cpu = std::chrono::nanoseconds{*waited},
                       .is_asleep = state.front() != 'R'};
}

std::optional<ThreadTimes> thread_times(pid_t tid) {
    const std::string thread = fmt::format("/proc/self/task/{}/", tid);
    return parse_thread_times(read_text(thread + "schedstat"), read_text(thread + "stat"));
}

}  // namespace bobbin::daemon
