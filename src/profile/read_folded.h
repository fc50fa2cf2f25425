// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// Folded stacks, as flame-graph tools read and write them, into the model: "comm;main;f_[k] 42", a
// line a stack, root first. The first frame is taken for the process, _[k] for the kernel, _[i] for
// a function inlined into the one before it. Value and count are the number at the end; empty lines
// and those that begin with # are passed over. An error names its line.
Result<symbolize::NamedProfile> read_folded(std::string_view text);

}  // namespace bobbin::profile
