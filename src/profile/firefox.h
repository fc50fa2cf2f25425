// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "symbolize/named_profile.h"

namespace bobbin::profile {

// The profile as profiler.firefox.com's processed format, version 55: newer readers upgrade it step
// by step, older ones refuse what is newer than they are. A track a process and thread, samples at
// their times, CPU use from their values. Addresses are those of the files.
// Format: src/types/profile.ts and docs-developer/CHANGELOG-formats.md of the Firefox Profiler.
std::string encode_firefox(const symbolize::NamedProfile& profile);

}  // namespace bobbin::profile
