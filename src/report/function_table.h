// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "report/grouping.h"
#include "report/weight.h"
#include "symbolize/named_profile.h"

namespace bobbin::report {

struct TableRow {
    Group group;   // of a function the line that weighs most, 0: not known
    Weight self;   // stacks whose innermost frame it is; of owners the same as `total`
    Weight total;  // stacks that have it, each once, however often it calls itself
};

enum class Sort { kSelf, kTotal };

// Most first, by value; equal ones by name. Every group has a row.
std::vector<TableRow> make_table(const symbolize::NamedProfile& profile, const Grouping& grouping,
                                 Sort sort);

}  // namespace bobbin::report
