// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "report/function_table.h"
#include "report/grouping.h"
#include "report/pattern.h"
#include "report/weight.h"
#include "symbolize/named_profile.h"

namespace bobbin::report {

// A neighbour of a group: what passes from the caller to the callee, each stack once.
struct Neighbour {
    Group group;
    Weight weight;
};

// One group whose name matches, with who calls it and whom it calls; not with itself.
struct Peek {
    TableRow row;
    std::vector<Neighbour> callers;  // most first, as are callees
    std::vector<Neighbour> callees;
};

// `by` groups frames.
std::vector<Peek> peek(const symbolize::NamedProfile& profile, By by, const Pattern& names,
                       Sort sort);

}  // namespace bobbin::report
