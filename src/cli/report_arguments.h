// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"

namespace bobbin::cli {

// The words of `bobbin report` and `bobbin explain`, checked; patterns are compiled.
tl::expected<ReportCommand, UserError> read_report_arguments(const Verb& verb,
                                                             const SplitArguments& arguments);
tl::expected<ExplainCommand, UserError> read_explain_arguments(const Verb& verb,
                                                               const SplitArguments& arguments);

}  // namespace bobbin::cli
