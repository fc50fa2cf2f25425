// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bobbin::test {

// One function at an address, as llvm-symbolizer prints it.
struct OracleFrame {
    std::string function;  // "??": not known
    std::string file;      // "??": not known
    std::uint32_t line = 0;
};

// `llvm-symbolizer --no-demangle --obj=PROGRAM` of each address, innermost first.
std::vector<std::vector<OracleFrame>> llvm_frames(const std::string& program,
                                                  const std::string& scratch_directory,
                                                  const std::vector<std::uint64_t>& addresses);

// Each third byte of .text, whose place readelf says: most lie inside of an instruction, as return
// addresses that were stepped back do.
std::vector<std::uint64_t> text_addresses(const std::string& program);

}  // namespace bobbin::test
