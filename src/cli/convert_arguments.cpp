// SPDX-License-Identifier: Apache-2.0
#include "cli/convert_arguments.h"

#include <fmt/core.h>

#include <span>
#include <string>
#include <utility>

#include "cli/output_arguments.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
tl::expected<ConvertCommand, UserError> read_convert_arguments(const Verb& verb,
                                                               const SplitArguments& arguments) {
    const auto refuse = [&](std::string what, std::string why) {
        return tl::unexpected(usage_error(&verb, std::move(what), std::move(why)));
    };
    if (arguments.rest.empty()) {
        return refuse("convert needs a file", "- reads standard input");
    }
    if (arguments.rest.size() > 1) {
        return refuse("convert takes one file",
                      fmt::format("what is to be written stands behind -o: -o {}",
                                  shell_quote(arguments.rest[1])));
    }
    ConvertCommand command{.path = arguments.rest.front()};
    if (const std::string* type = arguments.last("sample-type")) command.sample_type = *type;
    const std::span<const std::string> outputs = arguments.all("output");
    if (outputs.empty()) {
        return refuse("convert needs -o FILE", "the ending of FILE says what to convert to");
    }
    for (const std::string& path : outputs) {
        auto error = add_output(verb, path, "ls -ld " + shell_quote(path) + " .", command.outputs);
        if (error) return tl::unexpected(std::move(*error));
    }
    return command;
}

}  // namespace bobbin::cli
