// SPDX-License-Identifier: Apache-2.0
#include "cli/top_arguments.h"

#include <fmt/core.h>

#include <utility>

#include "cli/sampling_arguments.h"
#include "cli/target_arguments.h"
#include "cli/terminal_text.h"
#include "config/parse_duration.h"

namespace bobbin::cli {
namespace {

using Checked = tl::expected<void, UserError>;

Checked read_interval(const Verb& verb, const SplitArguments& arguments, TopCommand& command) {
    const std::string* const text = arguments.last("interval");
    if (text == nullptr) return {};
    const Result<std::chrono::nanoseconds> interval = config::parse_duration(*text);
    if (!interval) {
        return tl::unexpected(
            usage_error(&verb, fmt::format("--interval {}: not a duration", shell_quote(*text)),
                        interval.error().message() + "; durations are like 1, 500ms, 5s"));
    }
    if (*interval < TopCommand::kMinInterval || *interval > TopCommand::kMaxInterval) {
        return tl::unexpected(usage_error(
            &verb, fmt::format("--interval {}: too short or too long", shell_quote(*text)),
            "it may be 200ms to 10s"));
    }
    command.interval = *interval;
    return {};
}

}  // namespace

tl::expected<TopCommand, UserError> read_top_arguments(const Verb& verb,
                                                       const SplitArguments& arguments,
                                                       const Surroundings& surroundings) {
    if (!arguments.rest.empty()) {
        return tl::unexpected(UserError{
            "top starts no command", "it was given " + shell_quote(arguments.rest.front()),
            "sudo bobbin record -- " + shell_quote(arguments.rest), kExitUsage});
    }
    TopCommand command;
    Checked read = read_sampling(verb, arguments, surroundings, command.sampling);
    if (read) read = read_interval(verb, arguments, command);
    if (read) read = read_targets(arguments, surroundings, command.sampling);
    if (read && surroundings.rights_missing) read = tl::unexpected(*surroundings.rights_missing);
    if (!read) return tl::unexpected(std::move(read).error());
    command.sampling.whole_machine = arguments.has("all") || !command.sampling.has_targets();
    return command;
}

}  // namespace bobbin::cli
