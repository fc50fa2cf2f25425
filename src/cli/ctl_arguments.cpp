// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "cli/ctl.h"
#include "cli/output_arguments.h"
#include "cli/terminal_text.h"
#include "config/daemon_config.h"
#include "config/parse_duration.h"
#include "config/parse_frequency.h"

namespace bobbin::cli {
namespace {

using Action = CtlCommand::Action;
using Checked = tl::expected<void, UserError>;

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

class CtlReader {
public:
    CtlReader(const Verb& verb, const SplitArguments& arguments)
        : verb_(verb), arguments_(arguments) {}

    tl::expected<CtlCommand, UserError> read() {
        CtlCommand command;
        const std::string* const path = arguments_.last("config");
        command.config_path = path != nullptr ? *path : config::kDefaultConfigPath;
        command.json = arguments_.has("json");
        Checked read = read_action(command);
        if (read) read = read_time("last", command.last);
        if (read) read = read_time("duration", command.duration);
        if (read) read = read_frequency(command);
        if (read) read = read_outputs(command);
        if (!read) return tl::unexpected(std::move(read).error());
        return command;
    }

private:
    [[nodiscard]] tl::unexpected<UserError> refuse(std::string what, std::string why) const {
        return tl::unexpected(usage_error(&verb_, std::move(what), std::move(why)));
    }

    Checked read_action(CtlCommand& command) const {
        constexpr const char* kAll = "there are status, snapshot, boost, pause, resume and reload";
        if (arguments_.rest.empty()) return refuse("ctl needs to be told what to do", kAll);
        const std::string& word = arguments_.rest.front();
        const auto* const known = std::ranges::find(kActions, word, &ActionName::name);
        if (known == kActions.end()) {
            return refuse(fmt::format("ctl cannot {}", shell_quote(word)), kAll);
        }
        if (arguments_.rest.size() > 1) {
            return refuse("ctl takes one word",
                          "it was also given " + shell_quote(arguments_.rest[1]));
        }
        command.action = known->action;
        for (const FlagOfAction& flag : kFlagsOfActions) {
            if (!arguments_.has(flag.long_name) || flag.action == word) continue;
            return refuse(fmt::format("ctl {} takes no --{}", word, flag.long_name),
                          fmt::format("it belongs to ctl {}", flag.action));
        }
        return {};
    }

    Checked read_time(std::string_view flag, std::chrono::nanoseconds& time) const {
        const std::string* const text = arguments_.last(flag);
        if (text == nullptr) return {};
        const auto read = config::parse_duration(*text);
        if (!read) {
            return refuse(fmt::format("--{} {}: not a duration", flag, shell_quote(*text)),
                          read.error().message() + "; durations are like 10, 500ms, 1m30s, 2h");
        }
        time = *read;
        return {};
    }

    // The kernel's own limit is for the service to know.
    Checked read_frequency(CtlCommand& command) const {
        const std::string* const text = arguments_.last("frequency");
        if (text == nullptr) return {};
        const auto read = config::parse_frequency(*text, std::nullopt);
        if (!read) {
            return refuse(fmt::format("-F {}: not a frequency", shell_quote(*text)),
                          read.error().message());
        }
        command.frequency_hz = *read;
        return {};
    }

    Checked read_outputs(CtlCommand& command) const {
        if (command.action != Action::kSnapshot) return {};
        for (const std::string& path : arguments_.all("output")) {
            auto error = add_output(verb_, path, "bobbin ctl snapshot -o /tmp/snapshot.html",
                                    command.outputs);
            if (error) return tl::unexpected(std::move(*error));
        }
        if (!command.outputs.empty()) return {};
        return refuse("ctl snapshot needs a file", "-o snapshot.html, or another format's ending");
    }

    const Verb& verb_;
    const SplitArguments& arguments_;
};

}  // namespace

tl::expected<CtlCommand, UserError> read_ctl_arguments(const Verb& verb,
                                                       const SplitArguments& arguments) {
    return CtlReader(verb, arguments).read();
}

}  // namespace bobbin::cli
