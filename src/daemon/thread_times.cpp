// SPDX-License-Identifier: Apache-2.0
#include "daemon/thread_times.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace bobbin::daemon {
namespace {

std::string read_text(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> text{};
    const ssize_t length = fd.is_open() ? ::read(fd.get(), text.data(), text.size()) : 0;
    return {text.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

// "ran waited slices", nanoseconds; "tid (comm) S ...", where comm may hold anything.
std::optional<ThreadTimes> parse_thread_times(std::string_view schedstat, std::string_view stat) {
    std::int64_t ran = 0;
    std::int64_t waited = 0;
    const char* const end = schedstat.data() + schedstat.size();
    const auto first = std::from_chars(schedstat.data(), end, ran);
    if (first.ec != std::errc{} || first.ptr == end) return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, waited);
    const std::size_t comm_end = stat.rfind(')');
    if (second.ec != std::errc{} || comm_end == std::string_view::npos ||
        comm_end + 2 >= stat.size()) {
        return std::nullopt;
    }
    return ThreadTimes{.ran = std::chrono::nanoseconds{ran},
                       .waited_for_cpu = std::chrono::nanoseconds{waited},
                       .is_asleep = stat[comm_end + 2] != 'R'};
}

std::optional<ThreadTimes> thread_times(pid_t tid) {
    const std::string thread = fmt::format("/proc/self/task/{}/", tid);
    return parse_thread_times(read_text(thread + "schedstat"), read_text(thread + "stat"));
}

}  // namespace bobbin::daemon
