// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>

#include "symbolize/named_profile.h"

namespace bobbin::test {

inline void require(bool holds) {
    if (!holds) std::abort();
}

// What every reader of profiles promises: indexes lead somewhere, sums add up.
inline void check_profile(const symbolize::NamedProfile& profile) {
    for (const symbolize::Location& location : profile.locations) {
        require(location.mapping < profile.mappings.size() && !location.lines.empty());
        for (const symbolize::Line& line : location.lines)
            require(line.function < profile.functions.size());
    }
    std::uint64_t count = 0;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        for (const std::uint32_t location : stack.locations)
            require(location < profile.locations.size());
        count += stack.count;
        require(stack.times.empty() || profile.time_bucket.count() > 0);
    }
    require(count == profile.sample_count);
}

}  // namespace bobbin::test
