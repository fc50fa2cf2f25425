// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bobbin/bpf_abi.h"
#include "daemon/resumed_walks.h"

namespace bobbin::service {

// The kernel side's counters only grow.
abi::outcome_counters sum(const abi::outcome_counters& a, const abi::outcome_counters& b);
abi::outcome_counters difference(const abi::outcome_counters& later,
                                 const abi::outcome_counters& earlier);
daemon::ResumedWalks sum(const daemon::ResumedWalks& a, const daemon::ResumedWalks& b);
daemon::ResumedWalks difference(const daemon::ResumedWalks& later,
                                const daemon::ResumedWalks& earlier);

}  // namespace bobbin::service
