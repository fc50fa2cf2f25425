// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "cli/argument_reader.h"
#include "cli/ctl.h"
#include "cli/terminal_text.h"
#include "config/daemon_config.h"

namespace bobbin::cli {
namespace {

using Action = CtlCommand::Action;

struct ActionName {
    std::string_view name;
    Action action;
};
constexpr std::array kActions{
    ActionName{"status", Action::kStatus}, ActionName{"snapshot", Action::kSnapshot},
    ActionName{"boost", Action::kBoost},   ActionName{"pause", Action::kPause},
    ActionName{"resume", Action::kResume}, ActionName{"reload", Action::kReload},
};

struct FlagOfAction {
    std::string_view long_name;
    std::string_view action;
};
constexpr std::array kFlagsOfActions{
    FlagOfAction{"last", "snapshot"},   FlagOfAction{"output", "snapshot"},
    FlagOfAction{"frequency", "boost"}, FlagOfAction{"duration", "boost"},
    FlagOfAction{"json", "status"},
};

Action read_action(ArgumentReader& reader, std::span<const std::string> words) {
    constexpr const char* kAll = "there are status, snapshot, boost, pause, resume and reload";
    if (words.empty()) {
        reader.refuse("ctl needs to be told what to do", kAll);
        return {};
    }
    const std::string& word = words.front();
    const auto* const known = std::ranges::find(kActions, word, &ActionName::name);
    if (known == kActions.end()) {
        reader.refuse(fmt::format("ctl cannot {}", shell_quote(word)), kAll);
        return {};
    }
    if (words.size() > 1) {
        reader.refuse("ctl takes one word", "it was also given " + shell_quote(words[1]));
    }
    for (const FlagOfAction& flag : kFlagsOfActions) {
        if (!reader.has(flag.long_name) || flag.action == word) continue;
        reader.refuse(fmt::format("ctl {} takes no --{}", word, flag.long_name),
                      fmt::format("it belongs to ctl {}", flag.action));
    }
    return known->action;
}

}  // namespace

tl::expected<CtlCommand, UserError> read_ctl_arguments(const Verb& verb,
                                                       const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    CtlCommand command;
    command.action = read_action(reader, arguments.rest);
    command.config_path = reader.text("config", config::kDefaultConfigPath);
    command.json = arguments.has("json");
    command.last = reader.duration("last").value_or(command.last);
    command.duration = reader.duration("duration").value_or(command.duration);
    // The kernel's own limit is for the service to know.
    command.frequency_hz = reader.frequency(std::nullopt).value_or(command.frequency_hz);
    const auto paths = arguments.all("output");
    if (command.action == Action::kSnapshot && paths.empty()) {
        reader.refuse("ctl snapshot needs a file", "-o snapshot.html, or another format's ending");
    }
    command.outputs = reader.outputs(paths, "bobbin ctl snapshot -o /tmp/snapshot.html");
    return reader.give(std::move(command));
}

}  // namespace bobbin::cli
