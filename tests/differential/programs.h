// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace bobbin::test {

struct TestedProgram {
    std::string name;
    std::vector<std::string> arguments;  // [0]: its path
};

inline void PrintTo(const TestedProgram& program, std::ostream* out) { *out << program.name; }

// Programs of this machine that are there. None starts another or waits for input.
std::vector<TestedProgram> programs_here();

}  // namespace bobbin::test
