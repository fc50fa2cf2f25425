// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"

namespace bobbin::cli {

// The words of `bobbin top`, checked.
tl::expected<TopCommand, UserError> read_top_arguments(const Verb& verb,
                                                       const SplitArguments& arguments,
                                                       const Surroundings& surroundings);

}  // namespace bobbin::cli
