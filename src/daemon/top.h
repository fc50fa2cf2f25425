// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/command_line.h"

namespace bobbin::daemon {

// Runs `bobbin top` until q, Ctrl-C, SIGTERM or the end of the terminal; gives the exit status.
int top(const cli::TopCommand& command, std::span<const std::string> invocation);

}  // namespace bobbin::daemon
