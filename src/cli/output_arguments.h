// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/errors.h"
#include "cli/verbs.h"
#include "output/output_file.h"

namespace bobbin::cli {

// Adds the profile that `-o path` of `verb` asks for. Gives nothing, or why there cannot be such a
// file, with `run` to paste where its directory is at fault.
std::optional<UserError> add_output(const Verb& verb, const std::string& path, std::string run,
                                    std::vector<output::OutputFile>& outputs);

}  // namespace bobbin::cli
