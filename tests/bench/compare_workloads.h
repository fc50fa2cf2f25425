// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernel/sampled_fixture.h"

namespace bobbin::bench {

// One line of the table: which samples of a program are judged, by their innermost user frame, and
// what is exact.
struct Workload {
    std::string name;
    test::StackRule applies;
    test::StackRule is_exact;
};

struct Program {
    std::string fixture;
    std::string compiler;
    std::vector<Workload> workloads;
};

std::vector<Program> programs_to_compare();

}  // namespace bobbin::bench
