// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>
#include <vector>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"
#include "report/diff.h"
#include "symbolize/named_profile.h"

namespace bobbin::cli {

// The words of `bobbin diff`, checked.
tl::expected<DiffCommand, UserError> read_diff_arguments(const Verb& verb,
                                                         const SplitArguments& arguments);

// The answer for people, for programs, and for the summary of a CI job. `above` is what trips the
// gate, if there is one.
struct DiffAnswer {
    const DiffCommand& command;
    const report::ProfileDiff& diff;
    std::vector<report::FunctionDiff> above;
};
std::string to_text(const DiffAnswer& answer);
std::string to_json(const DiffAnswer& answer);
std::string to_markdown(const DiffAnswer& answer);

// What trips a gate says on standard error; exit status 3.
UserError explain_gate(const DiffAnswer& answer);

// Compares, prints to standard output and writes files, errors to standard error; gives the exit
// status. The paths of `command` are what messages call the two.
int answer_diff(const DiffCommand& command, const symbolize::NamedProfile& base,
                const symbolize::NamedProfile& fresh);

// Prints to standard output and writes files, errors to standard error; gives the exit status.
int run_diff(const DiffCommand& command);

}  // namespace bobbin::cli
