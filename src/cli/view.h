// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "cli/command_line.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"

namespace bobbin::cli {

// The words of `bobbin view`, checked.
tl::expected<ViewCommand, UserError> read_view_arguments(const Verb& verb,
                                                         const SplitArguments& arguments);

// Where the person sits, by the environment.
struct Seat {
    bool has_display = false;               // DISPLAY or WAYLAND_DISPLAY
    std::optional<std::string> ssh_target;  // "user@host" of a session over ssh
    std::string browser;                    // $BROWSER, else xdg-open
};
Seat read_seat(const std::function<const char*(const char*)>& environment, const std::string& user);

// What is said before a browser is opened: the address and, over ssh, the command that brings the
// port to where the browser is.
std::string tell_address(const std::string& url, std::uint16_t port, const ViewCommand& command,
                         const Seat& seat);

// Serves until Ctrl-C; gives the exit status.
int run_view(const ViewCommand& command);

}  // namespace bobbin::cli
