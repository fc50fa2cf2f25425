// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"

namespace bobbin::cli {

// The words of `bobbin ctl`, checked.
tl::expected<CtlCommand, UserError> read_ctl_arguments(const Verb& verb,
                                                       const SplitArguments& arguments);

// Asks the service where its configuration says it listens. Gives the exit status: 77 where only
// rights are missing.
int run_ctl(const CtlCommand& command);

// What /api/v1/status answered, for people. `now`: seconds since the epoch.
Result<std::string> describe_status(std::string_view json, double now);

}  // namespace bobbin::cli
