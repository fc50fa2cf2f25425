// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bobbin::profile {

// `text` with U+FFFD for each byte that is not part of well-formed UTF-8 (Unicode 15, table 3-7:
// shortest form, no surrogates, at most U+10FFFF). Symbol tables, paths and comms hold any bytes,
// and readers of pprof refuse a file with one bad string in it.
std::string to_valid_utf8(std::string_view text);

}  // namespace bobbin::profile
