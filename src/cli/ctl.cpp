// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl.h"

#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "cli/exit_status.h"
#include "cli/standard_output.h"
#include "cli/terminal_text.h"
#include "config/daemon_config.h"
#include "output/output_file.h"
#include "profile/read_pprof.h"
#include "serve/http_client.h"

namespace bobbin::cli {
namespace {

using std::chrono::milliseconds;
template <class T>
using Answered = tl::expected<T, UserError>;

constexpr std::string_view kUnixPrefix = "unix:";
// The service puts names to what it has before it gives a snapshot.
constexpr milliseconds kSnapshotDeadline = std::chrono::minutes{2};
constexpr milliseconds kDeadline = std::chrono::seconds{15};

long long in_milliseconds(std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<milliseconds>(time).count();
}

// One service, where its configuration says that it listens.
class Service {
public:
    static Answered<Service> find(const std::string& config_path) {
        const auto config = config::read_daemon_config(config_path);
        if (!config) {
            const config::ConfigError& error = config.error();
            return tl::unexpected(
                UserError{error.place + ": " + error.what, error.why, "", kExitUsage});
        }
        if (config->http.listen.empty()) {
            return tl::unexpected(UserError{"the service is not to be asked",
                                            "[http] listen is empty in " + config_path, "",
                                            kExitFailure});
        }
        return Service(config->http.listen);
    }

    [[nodiscard]] Answered<std::string> ask(const std::string& method, const std::string& path,
                                            milliseconds deadline) const {
        serve::HttpQuestion question{.url = base_ + path, .socket_file = socket_file_};
        question.method = method;
        question.deadline = deadline;
        question.headers = {"X-Bobbin: ctl"};
        question.max_answer_bytes = profile::kMaxProfileBytes;
        auto reply = serve::ask_http(question);
        if (!reply) return tl::unexpected(explain(reply.error()));
        if (reply->status == 200) return std::move(reply->body);
        while (reply->body.ends_with('\n')) reply->body.pop_back();
        return tl::unexpected(
            UserError{"the service refuses: " + printable(reply->body), "", "", kExitFailure});
    }

private:
    explicit Service(const std::string& listen) : place_(listen) {
        if (listen.starts_with(kUnixPrefix)) {
            socket_file_ = listen.substr(kUnixPrefix.size());
            base_ = "http://bobbin";
        } else {
            base_ = "http://" + listen;
        }
    }

    [[nodiscard]] UserError explain(const Error& error) const {
        const int code = error.code().value();
        if (code == EACCES) {
            return {"the service may not be asked by this user",
                    place_ + " is for root and the group bobbin, which holds from the next login",
                    "sudo usermod -aG bobbin $USER", kExitNoPrivilege};
        }
        if (code == ENOENT || code == ECONNREFUSED) {
            return {"no service answers", "nobody listens on " + place_,
                    "sudo systemctl start bobbin", kExitFailure};
        }
        return {"no service answers", error.message(), "systemctl status bobbin", kExitFailure};
    }

    std::string place_;
    std::string base_;
    std::string socket_file_;
};

int show_status(const Service& service, bool as_json) {
    const auto json = service.ask("GET", "/api/v1/status", kDeadline);
    if (!json) return fail_with_message(json.error());
    if (as_json) return answer(*json);
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    const auto text = describe_status(*json, now.count());
    if (text) return answer(*text);
    return fail_with_message({"the service's status is not understood", text.error().message(),
                              "bobbin ctl status --json", kExitFailure});
}

int write_snapshot(const Service& service, const CtlCommand& command) {
    const auto bytes =
        service.ask("GET", fmt::format("/api/v1/profile?last={}ms", in_milliseconds(command.last)),
                    kSnapshotDeadline);
    if (!bytes) return fail_with_message(bytes.error());
    const auto profile = profile::read_pprof(*bytes);
    if (!profile) return fail_with_message(explain_failure(profile.error()));
    std::string text;
    for (const output::OutputFile& file : command.outputs) {
        const auto written = file.write(*profile, output::sudo_user());
        if (!written) return fail_with_message(explain_failure(written.error()));
        if (written->path == "-") continue;
        text += fmt::format("{} ({}, {} samples)\n", printable(written->path),
                            byte_size(written->size_bytes), thousands(profile->sample_count));
    }
    static_cast<void>(write_text(stderr, text));
    return kExitOk;
}

int change(const Service& service, const std::string& path, const std::string& text) {
    const auto done = service.ask("POST", path, kDeadline);
    return done ? answer(text + "\n") : fail_with_message(done.error());
}

}  // namespace

int run_ctl(const CtlCommand& command) {
    const auto service = Service::find(command.config_path);
    if (!service) return fail_with_message(service.error());
    switch (command.action) {
        case CtlCommand::Action::kStatus:
            return show_status(*service, command.json);
        case CtlCommand::Action::kSnapshot:
            return write_snapshot(*service, command);
        case CtlCommand::Action::kBoost:
            return change(*service,
                          fmt::format("/api/v1/boost?frequency={}&duration={}ms",
                                      command.frequency_hz, in_milliseconds(command.duration)),
                          fmt::format("{} Hz for {}", command.frequency_hz,
                                      short_duration(command.duration)));
        case CtlCommand::Action::kPause:
            return change(*service, "/api/v1/pause", "paused, until `bobbin ctl resume`");
        case CtlCommand::Action::kResume:
            return change(*service, "/api/v1/resume", "resumed");
        case CtlCommand::Action::kReload:
            return change(*service, "/api/v1/reload", "configuration taken over");
    }
    return kExitFailure;
}

}  // namespace bobbin::cli
