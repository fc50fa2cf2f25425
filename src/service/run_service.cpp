// SPDX-License-Identifier: Apache-2.0
#include "service/run_service.h"

#include <fmt/core.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "cli/errors.h"
#include "cli/exit_status.h"
#include "cli/standard_output.h"
#include "config/daemon_config.h"
#include "daemon/signals.h"
#include "service/journal_log.h"
#include "service/kill_switch.h"
#include "service/notify.h"
#include "service/service.h"

namespace bobbin::service {
namespace {

// `systemctl status` shows it too.
int say(const cli::UserError& error) {
    notify_status(error.what + (error.why.empty() ? "" : ": " + error.why));
    return cli::fail_with_message(error);
}

cli::UserError explain(const config::ConfigError& error) {
    return {.what = error.place + ": " + error.what,
            .why = error.why,
            .run = "man bobbin.toml",
            .exit_status = cli::kExitUsage};
}

int run(const cli::DaemonCommand& command, const config::DaemonConfig& config) {
    auto signals = daemon::Signals::open({SIGINT, SIGTERM, SIGHUP});
    if (!signals) return say(cli::explain_failure(signals.error()));
    auto service = Service::start(command.config_path, config, *signals);
    if (!service) return say(service.error());
    const auto ended = (*service)->run();
    const int exit_status = ended ? cli::kExitOk : cli::kExitFailure;
    if (!(*service)->may_be_destroyed()) std::_Exit(exit_status);
    return exit_status;
}

}  // namespace

int run_service(const cli::DaemonCommand& command) {
    const auto config = config::read_daemon_config(command.config_path);
    if (!config) return say(explain(config.error()));
    if (command.check_only) {
        return cli::answer(fmt::format("bobbin: {} is right\n", command.config_path));
    }
    log_as_service();
    const KillSwitch kill_switch = KillSwitch::find();
    if (kill_switch.is_on()) {
        const std::string text = kill_switch.path() + " is there: nothing is sampled";
        spdlog::warn("{}", text);
        notify_status(text);
        return cli::kExitOk;
    }
    return run(command, *config);
}

}  // namespace bobbin::service
