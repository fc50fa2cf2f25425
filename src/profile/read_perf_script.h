// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// What `perf script` prints with its default fields, into the model:
//   comm pid/tid [cpu] 1234.567890:  10101010 cpu-clock:pppH:
//           7f00cafe symbol+0x1f (/usr/lib/x.so)          leaf first, an empty line behind the last
// Pid, cpu and period may be missing, as perf leaves out what it does not know. Times are kept.
// Periods of clocks are CPU time, those of other events stand for themselves. Of several events the
// one of `event` is read; empty: the first; a comment tells of the others. An error names its line.
Result<symbolize::NamedProfile> read_perf_script(std::string_view text,
                                                 std::string_view event = {});

// True when the first line that says something is a sample's head.
bool is_perf_script(std::string_view text);

}  // namespace bobbin::profile
