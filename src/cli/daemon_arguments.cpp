// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon_arguments.h"

#include "cli/terminal_text.h"
#include "config/daemon_config.h"

namespace bobbin::cli {

tl::expected<DaemonCommand, UserError> read_daemon_arguments(const Verb& verb,
                                                             const SplitArguments& arguments) {
    if (!arguments.rest.empty()) {
        return tl::unexpected(usage_error(&verb, "daemon takes no arguments",
                                          "it was given " + shell_quote(arguments.rest.front())));
    }
    const std::string* const path = arguments.last("config");
    return DaemonCommand{.config_path = path != nullptr ? *path : config::kDefaultConfigPath,
                         .check_only = arguments.has("check-config")};
}

}  // namespace bobbin::cli
