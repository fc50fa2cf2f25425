// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"

namespace bobbin::cli {

// The words of `bobbin daemon`, checked.
tl::expected<DaemonCommand, UserError> read_daemon_arguments(const Verb& verb,
                                                             const SplitArguments& arguments);

}  // namespace bobbin::cli
