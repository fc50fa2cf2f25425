// SPDX-License-Identifier: Apache-2.0
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/doctor.h"
#include "cli/object_info.h"
#include "cli/show_unwind.h"
#include "daemon/record.h"
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
        ::_exit(symbolize::serve_objects(symbolize::kWorkerSocketFd,
                                         std::strtoull(arguments[2], nullptr, 10)));
    }
    log_to_standard_error();
    const std::vector<std::string> invocation(arguments.begin(), arguments.end());
    return std::visit(
        Overloaded{
            [&](const config::RecordConfig& config) { return daemon::record(config, invocation); },
            [](const cli::DoctorCommand& doctor) { return cli::run_doctor(doctor); },
            [](const cli::ObjectInfoCommand& object) { return cli::run_object_info(object); },
            [](const cli::ShowUnwindCommand& unwind) { return cli::run_show_unwind(unwind); },
            [](const cli::Finished& finished) { return finished.exit_status; },
        },
        cli::parse_command_line(argc, argv));
}
