// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "symbolize/named_profile.h"

namespace bobbin::profile {

// The profile as speedscope's own JSON, where inlined functions are frames (its reader of pprof
// keeps only the last line of a location). One profile a thread, most value first; samples in order
// of time where it is known, one behind the other: its axis is the thread's value, not the clock.
// Format: https://www.speedscope.app/file-format-schema.json
std::string encode_speedscope(const symbolize::NamedProfile& profile);

}  // namespace bobbin::profile
