// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/sampling.h"
#include "service/part.h"
#include "symbolize/named_profile.h"

namespace bobbin::service {

// Gives a part's stacks their names.
using NamePart = std::function<daemon::NamedStacks(const Part&)>;

// All parts as one profile; each sample has the value of its part's period. What names had to do
// without is added to `losses`, a line each.
symbolize::NamedProfile join_parts(const Parts& parts, const NamePart& name,
                                   std::vector<std::string>& losses);

// A whole segment as it is stored: comments say what became of every tick in it.
symbolize::NamedProfile make_segment_profile(const Segment& segment, const NamePart& name);

}  // namespace bobbin::service
