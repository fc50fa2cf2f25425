// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <initializer_list>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::daemon {

// Signals as events of a descriptor. To be opened before any thread starts, so
// that all of them have the signals blocked. SIGPIPE is ignored: writing says EPIPE instead.
class Signals {
public:
    static Result<Signals> open(std::initializer_list<int> wanted = {SIGINT, SIGTERM, SIGUSR2});

    struct Event {
        int signal = 0;
        bool from_terminal = false;  // sent by the kernel to the whole foreground group
    };
    [[nodiscard]] int fd() const { return fd_.get(); }
    // Whether take() has something to give.
    [[nodiscard]] bool is_one_waiting() const;
    // The next one that came; nullopt: none waits.
    std::optional<Event> take();

private:
    explicit Signals(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

}  // namespace bobbin::daemon
