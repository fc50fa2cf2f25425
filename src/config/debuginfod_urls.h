// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bobbin::config {

// The debuginfod servers of this machine, separated by blanks: $DEBUGINFOD_URLS, else what
// distributions put into `directory`/*.urls, because sudo drops the variable. Empty: none.
std::string find_debuginfod_urls(const std::string& directory = "/etc/debuginfod");

}  // namespace bobbin::config
