// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"
#include "config/record_config.h"

namespace bobbin::cli {

// The words of `bobbin record`, checked: numbers, processes, what excludes what, and last the files
// to be written, so that a mistake shows before anything is recorded.
tl::expected<config::RecordConfig, UserError> read_record_arguments(
    const Verb& verb, const SplitArguments& arguments, const Surroundings& surroundings);

}  // namespace bobbin::cli
