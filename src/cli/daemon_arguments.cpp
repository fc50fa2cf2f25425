// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon_arguments.h"

#include "cli/argument_reader.h"
#include "config/daemon_config.h"

namespace bobbin::cli {

tl::expected<DaemonCommand, UserError> read_daemon_arguments(const Verb& verb,
                                                             const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    reader.expect_no_words();
    return reader.give(
        DaemonCommand{.config_path = reader.text("config", config::kDefaultConfigPath),
                      .check_only = arguments.has("check-config")});
}

}  // namespace bobbin::cli
