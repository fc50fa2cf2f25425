// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "config/record_config.h"

namespace bobbin::daemon {

// `bobbin record`: loads, samples until the command ends, the duration passes or Ctrl-C, writes.
// Gives the exit status; everything there is to say was said on standard error. `invocation` is
// argv, for commands to paste.
int record(const config::RecordConfig& config, std::span<const std::string> invocation);

}  // namespace bobbin::daemon
