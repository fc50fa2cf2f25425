// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.h"

namespace bobbin::service {

// `bobbin daemon`: runs until SIGTERM or SIGINT. Gives the exit status.
int run_service(const cli::DaemonCommand& command);

}  // namespace bobbin::service
