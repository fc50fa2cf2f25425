// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/argument_reader.h"
#include "cli/command_line.h"
#include "config/record_config.h"

namespace bobbin::cli {

// -F, -U, -K, --max-unwind-memory and --max-memory of a verb that samples.
void read_sampling(ArgumentReader& reader, const Surroundings& surroundings,
                   config::RecordConfig& config);

}  // namespace bobbin::cli
