// SPDX-License-Identifier: Apache-2.0
#include "symbolize/debug_file_fetcher.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "symbolize/object_messages.h"

namespace bobbin::symbolize {
namespace {

using Clock = MessageSocket::Clock;

// What the library, libcurl and OpenSSL look at.
std::vector<std::string> environment_for(const std::string& urls) {
    std::vector<std::string> variables = variables_of_this_process(
        {"LD_LIBRARY_PATH", "HOME", "XDG_CACHE_HOME", "DEBUGINFOD_CACHE_PATH", "DEBUGINFOD_MAXSIZE",
         "DEBUGINFOD_HEADERS_FILE", "DEBUGINFOD_TIMEOUT", "http_proxy", "https_proxy",
         "HTTPS_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"});
    const auto add = [&variables](const std::string& name, const auto& seconds) {
        variables.push_back(name + "=" + std::to_string(seconds.count()));
    };
    // Of two values the first one counts (getenv).
    add("DEBUGINFOD_TIMEOUT", DebugFileFetcher::kPatienceWithServer);
    add("DEBUGINFOD_MAXTIME", DebugFileFetcher::kPatienceWithFile);
    variables.emplace_back("DEBUGINFOD_RETRY_LIMIT=0");
    variables.push_back("DEBUGINFOD_URLS=" + urls);
    return variables;
}

}  // namespace

Result<> DebugFileFetcher::start() {
    SpawnedProgram program{.path = options_.program,
                           .arguments = {kDownloaderArgument},
                           .environment = environment_for(options_.urls)};
    if (options_.user) {
        program.arguments.push_back(std::to_string(options_.user->uid));
        program.arguments.push_back(std::to_string(options_.user->gid));
    }
    BOBBIN_TRY(SpawnedProcess process, spawn_process(program));
    process_.emplace(std::move(process));
    return {};
}

void DebugFileFetcher::end() {
    if (process_) end_process(process_->pid);
    process_.reset();
}

Result<UniqueFd> DebugFileFetcher::ask(const std::string& build_id) {
    if (!process_) BOBBIN_CHECK(start());
    const Clock::time_point deadline = Clock::now() + kPatienceWithFile;
    BOBBIN_CHECK(process_->socket.send(MessageKind::kDownload, encode(build_id), -1, deadline));
    BOBBIN_TRY(Message answer, process_->socket.receive(deadline));
    if (answer.kind == MessageKind::kFailed) return fail("{}", decode_text(answer.payload));
    return std::move(answer.fd);
}

UniqueFd DebugFileFetcher::fetch(const elf::BuildId& build_id) {
    if (failure_count_ >= kMaxFailures || build_id.empty()) return {};
    auto file = ask(elf::to_hex(build_id));
    if (file) return std::move(*file);
    ++failure_count_;
    const int error = file.error().code().value();
    if (error == 0 || !process_) {  // it said so itself, or was never there
        last_failure_ = file.error().message();
        return {};
    }
    last_failure_ = error == ETIMEDOUT ? "no answer in time" : "the process that asks them ended";
    end();
    return {};
}

}  // namespace bobbin::symbolize
