// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"

namespace bobbin::cli {

// The words of `bobbin push`, checked.
tl::expected<PushCommand, UserError> read_push_arguments(const Verb& verb,
                                                         const SplitArguments& arguments);

// Sends the file, each request once. Gives the exit status; 1: not all of it was taken.
int run_push(const PushCommand& command);

}  // namespace bobbin::cli
