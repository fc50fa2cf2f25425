// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <charconv>
#include <string>
#include <utility>

#include "cli/terminal_text.h"
#include "cli/view.h"

namespace bobbin::cli {

tl::expected<ViewCommand, UserError> read_view_arguments(const Verb& verb,
                                                         const SplitArguments& arguments) {
    const auto refuse = [&](std::string what, std::string why) {
        return tl::unexpected(usage_error(&verb, std::move(what), std::move(why)));
    };
    if (arguments.rest.empty()) return refuse("view needs a profile", "- reads standard input");
    if (arguments.rest.size() > 2) {
        return refuse("view takes a profile and what it is compared with",
                      "it was also given " + shell_quote(arguments.rest[2]));
    }
    ViewCommand command;
    command.path = arguments.rest.front();
    if (arguments.rest.size() == 2) command.base_path = arguments.rest[1];
    if (const std::string* const address = arguments.last("address")) command.address = *address;
    command.may_open = !arguments.has("no-open");
    if (const std::string* const text = arguments.last("port")) {
        const char* const text_end = text->data() + text->size();
        const auto [end, problem] = std::from_chars(text->data(), text_end, command.port);
        if (problem != std::errc{} || end != text_end) {
            return refuse(fmt::format("{} is not a port", shell_quote(*text)),
                          "ports are 1 to 65535, and 0 is one that is free");
        }
    }
    return command;
}

}  // namespace bobbin::cli
