// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::output {

// The profile in a file of a known format: pprof, folded stacks, text of perf script, speedscope's
// JSON, each gzip-compressed or not. By what it begins with and not by its ending; "-" is standard
// input. At most profile::kMaxProfileBytes are read. `value_name` is a sample type of pprof, an
// event of perf script, or the name of the one value that the others have.
Result<symbolize::NamedProfile> read_profile(const std::string& path,
                                             std::string_view value_name = {});

}  // namespace bobbin::output
