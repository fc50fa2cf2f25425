// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <utility>

#include "cli/argument_reader.h"
#include "cli/convert.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {

tl::expected<ConvertCommand, UserError> read_convert_arguments(const Verb& verb,
                                                               const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    if (arguments.rest.size() > 1) {
        reader.refuse("convert takes one file",
                      fmt::format("what is to be written stands behind -o: -o {}",
                                  shell_quote(arguments.rest[1])));
    }
    ConvertCommand command{.path = reader.path(), .sample_type = reader.text("sample-type")};
    if (!arguments.has("output")) {
        reader.refuse("convert needs -o FILE", "the ending of FILE says what to convert to");
    }
    command.outputs = reader.outputs(arguments.all("output"));
    return reader.give(std::move(command));
}

}  // namespace bobbin::cli
