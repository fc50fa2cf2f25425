// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bobbin::test {

// What `go tool addr2line` says of an address: the function that the code became part of, with the
// file and line of the code itself, which may have been inlined.
struct GoPlace {
    std::string function;    // "?": no function of Go
    std::string file;        // empty: not known
    std::uint32_t line = 0;  // 0: not known
};

std::vector<GoPlace> go_places(const std::string& program, const std::string& scratch_directory,
                               const std::vector<std::uint64_t>& addresses);

}  // namespace bobbin::test
