// SPDX-License-Identifier: Apache-2.0
#include "cli/top_arguments.h"

#include <utility>

#include "cli/argument_reader.h"
#include "cli/exit_status.h"
#include "cli/sampling_arguments.h"
#include "cli/target_arguments.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {

tl::expected<TopCommand, UserError> read_top_arguments(const Verb& verb,
                                                       const SplitArguments& arguments,
                                                       const Surroundings& surroundings) {
    ArgumentReader reader(verb, arguments);
    if (!arguments.rest.empty()) {
        reader.refuse(UserError{
            "top starts no command", "it was given " + shell_quote(arguments.rest.front()),
            "sudo bobbin record -- " + shell_quote(arguments.rest), kExitUsage});
    }
    TopCommand command;
    read_sampling(reader, surroundings, command.sampling);
    command.interval = reader.duration("interval").value_or(command.interval);
    if (command.interval < TopCommand::kMinInterval ||
        command.interval > TopCommand::kMaxInterval) {
        reader.refuse_value("interval", reader.text("interval"), "too short or too long",
                            "it may be 200ms to 10s");
    }
    read_targets(reader, surroundings, command.sampling);
    if (surroundings.rights_missing) reader.refuse(*surroundings.rights_missing);
    command.sampling.whole_machine = arguments.has("all") || !command.sampling.has_targets();
    return reader.give(std::move(command));
}

}  // namespace bobbin::cli
