// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

#include "base/result.h"

namespace bobbin::cli {

// Writes all of `text` and flushes. fmt::print would throw where a disk is full or a reader is
// gone, and what a destructor flushes is lost silently.
Result<> write_text(std::FILE* stream, std::string_view text);

// What a text is written for.
struct Terminal {
    std::size_t columns = 0;  // 0: as wide as it gets, as in a file
    bool has_colours = false;
};
// Colours as https://no-color.org has it.
Terminal terminal_of_standard_output();

// To standard output; gives the exit status: kExitOk, or kExitFailure after saying why.
int answer(std::string_view text);

}  // namespace bobbin::cli
