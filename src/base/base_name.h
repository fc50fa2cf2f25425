// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bobbin {

// What stands behind the last slash of a path; all of it where there is none.
inline std::string_view base_name(std::string_view path) {
    return path.substr(path.find_last_of('/') + 1);  // npos + 1 == 0
}

}  // namespace bobbin
