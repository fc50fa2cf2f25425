// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

namespace bobbin::symbolize {

// Which of two names of one address people know it by: the one with fewer leading underscores
// (`write` before `__libc_write`), then the first in the alphabet, so that runs agree.
inline bool is_better_alias(std::string_view a, std::string_view b) {
    const auto underscores = [](std::string_view name) {
        return std::min(name.find_first_not_of('_'), name.size());
    };
    if (underscores(a) != underscores(b)) return underscores(a) < underscores(b);
    return a < b;
}

}  // namespace bobbin::symbolize
