// SPDX-License-Identifier: Apache-2.0
#include "daemon/name_interruptibly.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <future>
#include <thread>
#include <utility>

#include "base/unique_fd.h"

namespace bobbin::daemon {
namespace {

enum class Waited { kNamed, kInterrupted };

Waited wait_for(int named_fd, Signals& signals) {
    while (true) {
        pollfd waiting[] = {{.fd = named_fd, .events = POLLIN, .revents = 0},
                            {.fd = signals.fd(), .events = POLLIN, .revents = 0}};
        ::poll(waiting, std::size(waiting), -1);
        if ((waiting[0].revents & POLLIN) != 0) return Waited::kNamed;
        while (const auto event = signals.take()) {
            if (event->signal != SIGUSR2) return Waited::kInterrupted;
        }
    }
}

}  // namespace

Named name_interruptibly(const aggregate::CountedStacks& counted, const Sampling& sampling,
                         Signals& signals) {
    const UniqueFd named_event(::eventfd(0, EFD_CLOEXEC));
    if (!named_event.is_open()) {
        return {.stacks = name(counted, sampling, symbolize::Names::kResolve)};
    }
    std::promise<NamedStacks> promise;
    auto future = promise.get_future();
    std::thread namer(
        [&counted, &sampling, fd = named_event.get(), result = std::move(promise)]() mutable {
            result.set_value(name(counted, sampling, symbolize::Names::kResolve));
            ::eventfd_write(fd, 1);
        });
    if (wait_for(named_event.get(), signals) == Waited::kNamed) {
        namer.join();
        return {.stacks = future.get()};
    }
    namer.detach();
    Named result{.stacks = name(counted, sampling, symbolize::Names::kSkip), .names_skipped = true};
    while (const auto event = signals.take()) result.aborted |= event->signal != SIGUSR2;
    return result;
}

}  // namespace bobbin::daemon
