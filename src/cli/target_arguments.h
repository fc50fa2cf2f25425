// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/argument_reader.h"
#include "cli/command_line.h"
#include "config/record_config.h"

namespace bobbin::cli {

// -p, -t, -G, -u, --container and --comm: checked against what there is on this machine now, names
// turned into cgroups. With -a only checked, because the whole machine contains any other target.
void read_targets(ArgumentReader& reader, const Surroundings& surroundings,
                  config::RecordConfig& config);

}  // namespace bobbin::cli
