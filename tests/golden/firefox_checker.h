// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bobbin::test {

// What breaks the rules of the Firefox Profiler's processed format, version 55: tables as
// src/types/profile.ts has them (columns of one length, no others, indexes into tables that are
// there), prefixes of stacks before the stacks, times that do not go back, a grey category.
std::vector<std::string> check_firefox(const std::string& text);

}  // namespace bobbin::test
