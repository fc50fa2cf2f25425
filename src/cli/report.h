// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "report/call_tree.h"
#include "report/function_table.h"
#include "report/grouping.h"
#include "report/peek.h"
#include "report/weight.h"
#include "symbolize/named_profile.h"

namespace bobbin::cli {

// The answer of `bobbin report`, before it is written for somebody.
struct ReportAnswer {
    std::string file;
    symbolize::ValueType count_type;
    symbolize::ValueType value_type;
    report::Weight all;    // of the file
    report::Weight shown;  // what --focus and the like left of it
    std::chrono::nanoseconds duration{};
    report::Grouping grouping;
    std::size_t max_rows = 0;  // of a table or of each list; 0: no limit
    std::variant<std::vector<report::TableRow>, std::vector<report::Peek>, report::CallTree> rows;
};

// Counts where values are all 0. `profile` is used up.
ReportAnswer make_report(const ReportCommand& command, symbolize::NamedProfile profile);

// Prints to standard output, errors to standard error; gives the exit status.
int run_report(const ReportCommand& command);

// A file of a profile that cannot be read.
UserError explain_profile_failure(const Error& error, const std::string& path);

}  // namespace bobbin::cli
