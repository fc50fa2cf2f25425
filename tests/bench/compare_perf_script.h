// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/stacks.h"

namespace bobbin::bench {

// The samples of a perf.data file, by `perf script`. A frame without a name gets the one that our
// profiles give it, MODULE+0x..., so that one rule judges both.
std::vector<test::Stack> read_perf_data(const std::string& path);

// What `perf script -F comm,ip,sym,dso` prints: a line with the command, the frames, leaf first,
// and an empty line.
//   known_chain.gcc
//           55d0c2a5e3d0 chain_25 (/tmp/fixtures/known_chain.gcc.pie)
std::vector<test::Stack> parse_perf_script(const std::string& text);

}  // namespace bobbin::bench
