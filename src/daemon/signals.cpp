// SPDX-License-Identifier: Apache-2.0
#include "daemon/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bobbin::daemon {

Result<Signals> Signals::open(std::initializer_list<int> wanted) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : wanted) sigaddset(&set, number);
    if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
        return fail_with(error, "block signals");
    }
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, nullptr);
    UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd.is_open()) return fail_with(errno, "signalfd");
    return Signals(std::move(fd));
}

bool Signals::is_one_waiting() const {
    pollfd waiting{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, 0) == 1;
}

std::optional<Signals::Event> Signals::take() {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
    return Event{.signal = static_cast<int>(info.ssi_signo),
                 .from_terminal = info.ssi_code == SI_KERNEL};
}

}  // namespace bobbin::daemon
