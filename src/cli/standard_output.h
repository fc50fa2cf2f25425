// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string_view>

#include "base/result.h"

namespace bobbin::cli {

// Writes all of `text` and flushes. fmt::print would throw where a disk is full or a reader is
// gone, and what a destructor flushes is lost silently.
Result<> write_text(std::FILE* stream, std::string_view text);

// To standard output; gives the exit status: kExitOk, or kExitFailure after saying why.
int answer(std::string_view text);

}  // namespace bobbin::cli
