// SPDX-License-Identifier: Apache-2.0
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/convert.h"
#include "cli/ctl.h"
#include "cli/diff.h"
#include "cli/doctor.h"
#include "cli/explain.h"
#include "cli/object_info.h"
#include "cli/push.h"
#include "cli/query.h"
#include "cli/report.h"
#include "cli/show_unwind.h"
#include "cli/view.h"
#include "daemon/record.h"
#include "daemon/top.h"
#include "sampler/event_opener.h"
#include "service/run_service.h"
#include "symbolize/debug_file_fetcher.h"
#include "symbolize/debuginfod_client.h"
#include "symbolize/object_worker.h"
#include "symbolize/serve_objects.h"

namespace {

// Standard output carries data only. BOBBIN_LOG: trace, debug, info, warn (the default), error,
// off.
void log_to_standard_error() {
    auto logger = std::make_shared<spdlog::logger>(
        "bobbin", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    logger->set_pattern("bobbin: %^%l%$: %v");
    const char* const level = std::getenv("BOBBIN_LOG");
    logger->set_level(level != nullptr ? spdlog::level::from_str(level) : spdlog::level::warn);
    spdlog::set_default_logger(std::move(logger));
}

// `bobbin symbolize-worker BYTES` is what a recording starts for itself (object_worker.h); nobody
// types it.
bool is_worker(std::span<char* const> arguments) {
    return arguments.size() == 3 &&
           std::string_view(arguments[1]) == bobbin::symbolize::kWorkerArgument;
}

// `bobbin debuginfod-client [UID GID]` is another one (debug_file_fetcher.h).
bool is_downloader(std::span<char* const> arguments) {
    return (arguments.size() == 2 || arguments.size() == 4) &&
           std::string_view(arguments[1]) == bobbin::symbolize::kDownloaderArgument;
}

// `bobbin event-opener`, which systemd starts (event_opener.h).
bool is_event_opener(std::span<char* const> arguments) {
    return arguments.size() == 2 &&
           std::string_view(arguments[1]) == bobbin::sampler::kEventOpenerArgument;
}

std::optional<bobbin::symbolize::DownloadUser> user_in(std::span<char* const> arguments) {
    if (arguments.size() != 4) return std::nullopt;
    const auto number = [](const char* text) {
        return static_cast<uid_t>(std::strtoul(text, nullptr, 10));
    };
    return bobbin::symbolize::DownloadUser{.uid = number(arguments[2]),
                                           .gid = number(arguments[3])};
}

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

int main(int argc, char** argv) {
    using namespace bobbin;
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    if (is_worker(arguments)) {
        ::_exit(symbolize::serve_objects(symbolize::kAgentSocketFd,
                                         std::strtoull(arguments[2], nullptr, 10)));
    }
    if (is_downloader(arguments)) {
        ::_exit(symbolize::serve_downloads(symbolize::kAgentSocketFd, user_in(arguments)));
    }
    if (is_event_opener(arguments)) {
        ::_exit(sampler::serve_event_opener(sampler::kListeningFd));
    }
    log_to_standard_error();
    const std::vector<std::string> invocation(arguments.begin(), arguments.end());
    return std::visit(
        Overloaded{
            [&](const config::RecordConfig& config) { return daemon::record(config, invocation); },
            [&](const cli::TopCommand& top) { return daemon::top(top, invocation); },
            [](const cli::ReportCommand& report) { return cli::run_report(report); },
            [](const cli::DiffCommand& diff) { return cli::run_diff(diff); },
            [](const cli::ViewCommand& view) { return cli::run_view(view); },
            [](const cli::ConvertCommand& convert) { return cli::run_convert(convert); },
            [](const cli::ExplainCommand& explain) { return cli::run_explain(explain); },
            [](const cli::DaemonCommand& command) { return service::run_service(command); },
            [](const cli::QueryCommand& query) { return cli::run_query(query); },
            [](const cli::CtlCommand& ctl) { return cli::run_ctl(ctl); },
            [](const cli::PushCommand& push) { return cli::run_push(push); },
            [](const cli::DoctorCommand& doctor) { return cli::run_doctor(doctor); },
            [](const cli::ObjectInfoCommand& object) { return cli::run_object_info(object); },
            [](const cli::ShowUnwindCommand& unwind) { return cli::run_show_unwind(unwind); },
            [](const cli::Finished& finished) { return finished.exit_status; },
        },
        cli::parse_command_line(argc, argv));
}
