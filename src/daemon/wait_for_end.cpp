// SPDX-License-Identifier: Apache-2.0
#include "daemon/wait_for_end.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "cli/exit_status.h"
#include "daemon/proc_stat.h"
#include "sampler/pid_namespace.h"

namespace bobbin::daemon {
namespace {

using Clock = std::chrono::steady_clock;

// Becomes readable when the process ends. nullopt: it has ended already, or its number is another's
// here, where /proc shows a pid namespace above our own.
std::optional<UniqueFd> watch_process(pid_t pid) {
    UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!fd.is_open() || sampler::number_in_proc(fd.get()) != pid) return std::nullopt;
    return fd;
}

// Before 6.9 there are no descriptors of single threads. The first thread of a process stays as a
// zombie while others run or nobody has waited for it.
bool has_ended(pid_t thread) {
    std::ifstream file("/proc/" + std::to_string(thread) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return true;
    const std::string_view state = behind_name(line);
    return state.starts_with('Z') || state.starts_with('X');
}

class EndWaiter {
public:
    EndWaiter(const EndWatch& watch, const WhileWaiting& meanwhile)
        : watch_(watch),
          meanwhile_(meanwhile),
          waits_for_targets_(!watch.processes.empty() || !watch.threads.empty()),
          asked_(watch.threads) {
        for (const pid_t pid : watch.processes) {
            if (auto fd = watch_process(pid)) {
                target_fds_.push_back(std::move(*fd));
            } else {
                asked_.push_back(pid);
            }
        }
        std::erase_if(asked_, has_ended);
        if (watch.duration) deadline_ = Clock::now() + *watch.duration;
    }

    Result<> wait() {
        auto next_second = Clock::now() + std::chrono::seconds{1};
        while (!ended_ && !targets_are_gone()) {
            BOBBIN_CHECK(poll_until(deadline_ ? std::min(*deadline_, next_second) : next_second));
            const auto now = Clock::now();
            if (deadline_ && now >= *deadline_) return {};
            if (now >= next_second) {
                meanwhile_.each_second();
                std::erase_if(asked_, has_ended);
                next_second += std::chrono::seconds{1};
            }
        }
        return {};
    }

private:
    Result<> poll_until(Clock::time_point until) {
        std::vector<pollfd> waiting{{.fd = watch_.signals.fd(), .events = POLLIN, .revents = 0}};
        if (watch_.command != nullptr) add(waiting, watch_.command->pidfd());
        for (const UniqueFd& fd : target_fds_) add(waiting, fd.get());
        const auto left =
            std::max(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()),
                     std::chrono::milliseconds{0});
        const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
        if (ready < 0 && errno != EINTR) return fail_with(errno, "wait for the end");
        if (ready <= 0) return {};
        if (waiting[0].revents != 0) take_signals();
        if (watch_.command != nullptr && waiting[1].revents != 0) ended_ = true;
        std::erase_if(target_fds_, [&waiting](const UniqueFd& fd) {
            return std::ranges::any_of(waiting, [&fd](const pollfd& entry) {
                return entry.fd == fd.get() && entry.revents != 0;
            });
        });
        return {};
    }

    bool targets_are_gone() const {
        return waits_for_targets_ && target_fds_.empty() && asked_.empty();
    }

    static void add(std::vector<pollfd>& waiting, int fd) {
        waiting.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    }

    void take_signals() {
        while (const auto event = watch_.signals.take()) {
            if (event->signal == SIGUSR2) {
                meanwhile_.snapshot();
                continue;
            }
            ++interrupts_;
            if (watch_.command == nullptr || interrupts_ > 1) {
                ended_ = true;
            } else if (!event->from_terminal) {
                watch_.command->send_signal(event->signal);
            }
        }
    }

    const EndWatch& watch_;
    const WhileWaiting& meanwhile_;
    bool waits_for_targets_;
    std::vector<UniqueFd> target_fds_;
    std::vector<pid_t> asked_;  // each second, by /proc
    std::optional<Clock::time_point> deadline_;
    int interrupts_ = 0;
    bool ended_ = false;
};

}  // namespace

Result<> wait_for_end(const EndWatch& watch, const WhileWaiting& meanwhile) {
    return EndWaiter(watch, meanwhile).wait();
}

int wait_for_command(cli::LaunchedCommand& command, Signals& signals) {
    while (true) {
        if (const auto status = command.try_wait()) return *status;
        pollfd waiting[] = {{.fd = command.pidfd(), .events = POLLIN, .revents = 0},
                            {.fd = signals.fd(), .events = POLLIN, .revents = 0}};
        ::poll(waiting, std::size(waiting), -1);
        while (const auto event = signals.take()) {
            if (event->signal != SIGUSR2) return cli::kExitAborted;
        }
    }
}

}  // namespace bobbin::daemon
