// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"

namespace bobbin::cli {

// The words of `bobbin convert`, checked, the files to be written among them.
tl::expected<ConvertCommand, UserError> read_convert_arguments(const Verb& verb,
                                                               const SplitArguments& arguments);

// Reads one profile and writes it in other formats; errors to standard error; gives the exit
// status. One file that cannot be written does not keep the others from being.
int run_convert(const ConvertCommand& command);

}  // namespace bobbin::cli
