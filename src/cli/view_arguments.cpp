// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <utility>

#include "base/parse_number.h"
#include "cli/argument_reader.h"
#include "cli/terminal_text.h"
#include "cli/view.h"

namespace bobbin::cli {
namespace {

Result<std::uint16_t> parse_port(std::string_view text) {
    const auto port = parse_number<std::uint16_t>(text);
    if (!port) return fail("ports are 1 to 65535, and 0 is one that is free");
    return *port;
}

}  // namespace

tl::expected<ViewCommand, UserError> read_view_arguments(const Verb& verb,
                                                         const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    ViewCommand command;
    if (arguments.rest.empty()) reader.refuse("view needs a profile", "- reads standard input");
    if (arguments.rest.size() > 2) {
        reader.refuse("view takes a profile and what it is compared with",
                      "it was also given " + shell_quote(arguments.rest[2]));
    }
    if (!arguments.rest.empty()) command.path = arguments.rest.front();
    if (arguments.rest.size() == 2) command.base_path = arguments.rest[1];
    command.address = reader.text("address", command.address);
    command.may_open = !arguments.has("no-open");
    command.port = reader.value("port", "a port", parse_port).value_or(command.port);
    return reader.give(std::move(command));
}

}  // namespace bobbin::cli
