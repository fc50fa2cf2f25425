// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "cli/command_line.h"
#include "report/advice.h"
#include "report/explain.h"

namespace bobbin::cli {

// A problem, and what one does about it.
struct ExplainedProblem {
    report::Problem problem;
    report::Advice advice;
};

struct ExplainAnswer {
    report::Explanation explanation;
    std::vector<ExplainedProblem> problems;  // largest first
};

// "97.8 % complete · 1.4 % generated code without frame pointer": how all stacks ended. Also in the
// end summary of a recording.
std::string describe_stacks(const std::array<std::uint64_t, abi::WALK_END_COUNT>& by_walk_end);

std::string to_text(const ExplainAnswer& answer);
std::string to_json(const ExplainAnswer& answer);

// Asks this machine which packages own the modules that lack something; prints to standard output,
// errors to standard error; gives the exit status.
int run_explain(const ExplainCommand& command);

}  // namespace bobbin::cli
