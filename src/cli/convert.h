// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.h"

namespace bobbin::cli {

// Reads one profile and writes it in other formats; errors to standard error; gives the exit
// status. One file that cannot be written does not keep the others from being.
int run_convert(const ConvertCommand& command);

}  // namespace bobbin::cli
