// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/daemon_config.h"
#include "config/record_config.h"
#include "service/budget.h"
#include "symbolize/name_stacks.h"

namespace bobbin::service {

// The cgroups in which these units run now. A unit that does not run has none; several units with
// one name (of users) have several.
std::vector<std::uint64_t> find_unit_cgroups(const std::vector<std::string>& units);

Budget::Limits limits_of(const config::DaemonConfig& config);
symbolize::Names names_of(const config::DaemonConfig& config);

// How to sample as the service is told to.
config::RecordConfig sampling_config(const config::DaemonConfig& config);

// Whether a running recording would do for the other configuration, but for its rate.
bool samples_alike(const config::DaemonConfig& a, const config::DaemonConfig& b);

}  // namespace bobbin::service
