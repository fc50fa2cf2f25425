// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bobbin::daemon {

// From the state on, the third field, of proc_pid_stat(5): "pid (name) S ...". The name may hold
// anything. Empty: it is not such a line.
inline std::string_view behind_name(std::string_view stat) {
    const std::size_t name_end = stat.rfind(") ");
    return name_end == std::string_view::npos ? std::string_view() : stat.substr(name_end + 2);
}

}  // namespace bobbin::daemon
