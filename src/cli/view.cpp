// SPDX-License-Identifier: Apache-2.0
#include "cli/view.h"

#include <fmt/core.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "cli/exit_status.h"
#include "cli/launch_command.h"
#include "cli/report.h"
#include "cli/standard_output.h"
#include "cli/terminal_text.h"
#include "output/output_file.h"
#include "output/read_profile.h"
#include "profile/html.h"
#include "serve/page_server.h"

namespace bobbin::cli {
namespace {

// The third word of SSH_CONNECTION: "client port server port".
std::string server_of(std::string_view connection) {
    for (int word = 0; word < 2; ++word) {
        const std::size_t blank = connection.find(' ');
        if (blank == std::string_view::npos) return {};
        connection.remove_prefix(blank + 1);
    }
    return std::string(connection.substr(0, connection.find(' ')));
}

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "HOST";
    return name.data();
}

// Who typed: the user behind sudo, who is also who logged in.
std::string user_name() {
    if (const char* const behind_sudo = std::getenv("SUDO_USER")) return behind_sudo;
    const passwd* const user = ::getpwuid(::geteuid());
    return user != nullptr ? user->pw_name : "USER";
}

tl::expected<std::string, UserError> make_page(const ViewCommand& command) {
    auto profile = output::read_profile(command.path);
    if (!profile) return tl::unexpected(explain_profile_failure(profile.error(), command.path));
    Result<std::string> page;
    if (command.base_path) {
        const auto base = output::read_profile(*command.base_path);
        if (!base) {
            return tl::unexpected(explain_profile_failure(base.error(), *command.base_path));
        }
        page = profile::encode_diff_html(*base, *profile);
    } else {
        page = profile::encode_html(*profile);
    }
    if (!page) return tl::unexpected(explain_failure(page.error()));
    return std::move(*page);
}

// What may end it, blocked in all threads so that sigwait() has it.
sigset_t block_ending_signals() {
    sigset_t signals{};
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    return signals;
}

// As the user behind sudo: a browser of root's would make root's files in that user's home. A
// browser that does not start is no failure, its address was printed.
void open_browser(const Seat& seat, const std::string& url) {
    auto browser = LaunchedCommand::prepare({seat.browser, url}, output::sudo_user());
    Result<> started;
    if (browser) started = browser->start();
    if (!browser || !started) {
        const Error& error = browser ? started.error() : browser.error();
        print({"no browser was opened: " + error.message(), {}, {}});
    }
}

}  // namespace

Seat read_seat(const std::function<const char*(const char*)>& environment,
               const std::string& user) {
    const auto has = [&](const char* name) {
        const char* const value = environment(name);
        return value != nullptr && *value != '\0';
    };
    Seat seat{.has_display = has("DISPLAY") || has("WAYLAND_DISPLAY"),
              .ssh_target = std::nullopt,
              .browser = has("BROWSER") ? environment("BROWSER") : "xdg-open"};
    // One list, of which the first is taken.
    seat.browser = seat.browser.substr(0, seat.browser.find(':'));
    if (has("SSH_CONNECTION") || has("SSH_CLIENT") || has("SSH_TTY")) {
        const std::string server =
            has("SSH_CONNECTION") ? server_of(environment("SSH_CONNECTION")) : "";
        seat.ssh_target = user + "@" + (server.empty() ? host_name() : server);
    }
    return seat;
}

std::string tell_address(const std::string& url, std::uint16_t port, const ViewCommand& command,
                         const Seat& seat) {
    std::string text = fmt::format("{}\n", url);
    if (!seat.ssh_target) return text;
    const bool is_ipv6 = command.address.find(':') != std::string::npos;
    const std::string address = is_ipv6 ? "[" + command.address + "]" : command.address;
    return text +
           fmt::format("on the machine with the browser, first run:  ssh -L {0}:{1}:{0} {2}\n",
                       port, address, shell_quote(*seat.ssh_target));
}

int run_view(const ViewCommand& command) {
    auto page = make_page(command);
    if (!page) return fail_with_message(page.error());
    const sigset_t signals = block_ending_signals();
    const auto server = serve::PageServer::start({.address = command.address, .port = command.port},
                                                 std::move(*page));
    if (!server) {
        return fail_with_message({"cannot serve the page: " + server.error().message(),
                                  "another program may have the port; 0 takes one that is free",
                                  "ss -ltnp"});
    }
    const Seat seat = read_seat([](const char* name) { return std::getenv(name); }, user_name());
    if (const int status = answer(tell_address(server->url(), server->port(), command, seat));
        status != kExitOk) {
        return status;
    }
    if (command.may_open && seat.has_display && !seat.ssh_target) open_browser(seat, server->url());
    static_cast<void>(write_text(stderr, "Ctrl-C ends it\n"));
    int signal = 0;
    ::sigwait(&signals, &signal);
    return kExitOk;
}

}  // namespace bobbin::cli
