// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cli/launch_command.h"
#include "daemon/signals.h"

namespace bobbin::daemon {

// What can end a recording, whichever comes first.
struct EndWatch {
    Signals& signals;
    cli::LaunchedCommand* command = nullptr;  // ends
    // These all end; without any that is no reason. Threads are looked at once a second.
    std::vector<pid_t> processes;
    std::vector<pid_t> threads;
    std::optional<std::chrono::nanoseconds> duration;
};

struct WhileWaiting {
    std::function<void()> each_second;
    std::function<void()> snapshot;  // SIGUSR2
};

// Ctrl-C ends the recording, but with a command it is the command's to answer: the recording goes
// on until the command ends or a second one comes. A signal that only we got is passed on to it.
Result<> wait_for_end(const EndWatch& watch, const WhileWaiting& meanwhile);

// Waits for the command after the recording; its exit status, or 130 when interrupted.
int wait_for_command(cli::LaunchedCommand& command, Signals& signals);

}  // namespace bobbin::daemon
