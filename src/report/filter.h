// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "report/pattern.h"
#include "symbolize/named_profile.h"

namespace bobbin::report {

// What is looked at of a profile, in the words and with the meaning of `go tool pprof`. A pattern
// meets a place by the name of one of its functions, their source files, or its module.
struct Filter {
    std::optional<Pattern> focus;      // only stacks with such a place
    std::optional<Pattern> ignore;     // no stack with such a place
    std::optional<Pattern> hide;       // such functions out of stacks; a stack of them alone goes
    std::optional<Pattern> show_from;  // nothing above the outermost such function; others go
};

// Takes out of `profile` what is not looked at, in the order above. Totals of the whole have to be
// taken before. sample_count and by_walk_end are then those of the stacks that are left.
void apply(const Filter& filter, symbolize::NamedProfile& profile);

}  // namespace bobbin::report
