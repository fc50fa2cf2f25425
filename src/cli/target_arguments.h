// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"
#include "config/record_config.h"

namespace bobbin::cli {

// -p, -t, -G, -u, --container and --comm: checked against what there is on this machine now, names
// turned into cgroups. With -a only checked, because the whole machine contains any other target.
tl::expected<void, UserError> read_targets(const SplitArguments& arguments,
                                           const Surroundings& surroundings,
                                           config::RecordConfig& config);

}  // namespace bobbin::cli
