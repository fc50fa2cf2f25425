// SPDX-License-Identifier: Apache-2.0
#include "cli/output_arguments.h"

#include <algorithm>
#include <utility>

#include "cli/exit_status.h"
#include "cli/split_arguments.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {

std::optional<UserError> add_output(const Verb& verb, const std::string& path, std::string run,
                                    std::vector<output::OutputFile>& outputs) {
    const bool is_repeated = std::ranges::any_of(
        outputs, [&](const output::OutputFile& file) { return file.path() == path; });
    if (is_repeated) {
        return usage_error(&verb, shell_quote(path) + " is to be written twice",
                           "the second profile would replace the first");
    }
    Result<output::OutputFile> file = output::OutputFile::prepare(path);
    if (file) {
        outputs.push_back(std::move(*file));
        return std::nullopt;
    }
    std::string what = "cannot write " + shell_quote(path);
    // A system call's errno is the directory's fault, anything else the name's.
    if (!file.error().code()) return usage_error(&verb, std::move(what), file.error().message());
    return UserError{std::move(what), file.error().message(), std::move(run), kExitFailure};
}

}  // namespace bobbin::cli
