// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"
#include "cli/standard_output.h"
#include "store/store.h"

namespace bobbin::cli {

// The words of `bobbin query`, checked. Times without a date are the last ones before now.
tl::expected<QueryCommand, UserError> read_query_arguments(const Verb& verb,
                                                           const SplitArguments& arguments);

// Prints to standard output or writes files, errors to standard error; gives the exit status.
int run_query(const QueryCommand& command);

// A store that cannot be read.
UserError explain_store_failure(const Error& error, const std::string& path);

// What --list shows, for people and for programs.
std::string list_text(const std::vector<store::Segment>& segments);
std::string list_json(const std::vector<store::Segment>& segments);

// "2026-11-22 10:30:00", of this machine's place.
std::string local_time_text(store::Time time);
// "2026-11-22 10:30:00..11:30:00"
std::string range_text(const store::Range& range);

}  // namespace bobbin::cli
