// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"
#include "config/record_config.h"

namespace bobbin::cli {

// -F, -U, -K, --max-unwind-memory and --max-memory of `verb`, which samples.
tl::expected<void, UserError> read_sampling(const Verb& verb, const SplitArguments& arguments,
                                            const Surroundings& surroundings,
                                            config::RecordConfig& config);

}  // namespace bobbin::cli
