// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/sampling.h"
#include "service/part.h"
#include "symbolize/named_profile.h"

namespace bobbin::service {

// Gives stacks of a part their names.
using NameCounted =
    std::function<daemon::NamedStacks(const Part&, const aggregate::CountedStacks&)>;

// All parts as one profile; each sample has the value of its rate's period. What names had to do
// without is added to `losses`, a line each.
symbolize::NamedProfile join_parts(const Parts& parts, const NameCounted& name,
                                   std::vector<std::string>& losses);

// A whole segment as it is stored: comments say what became of every tick in it.
symbolize::NamedProfile make_segment_profile(const Segment& segment, const NameCounted& name);

}  // namespace bobbin::service
