// SPDX-License-Identifier: Apache-2.0
#include "serve/page_server.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "serve/http_server.h"

namespace bobbin::serve {
namespace {

constexpr HttpServer::Limits kLimits{.max_connections = 64, .idle = std::chrono::seconds{30}};

HttpAnswer answer(const HttpRequest& request, const std::string& path, const std::string& page) {
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (!is_read || !equal_in_constant_time(request.path, path)) return {.status = 404};
    HttpAnswer found{.content_type = "text/html; charset=utf-8", .body = page};
    // What the page's own policy cannot say: no other page may frame it.
    found.headers.add("Content-Security-Policy", "frame-ancestors 'none'");
    return found;
}

}  // namespace

struct PageServer::State {
    std::string path;
    std::optional<HttpServer> server;
};

PageServer::PageServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
PageServer::PageServer(PageServer&& other) noexcept = default;
PageServer::~PageServer() = default;

Result<PageServer> PageServer::start(const Place& place, std::string page) {
    BOBBIN_TRY(const std::string token, make_token());
    auto state = std::make_unique<State>();
    state->path = "/" + token + "/";
    const auto give = [path = state->path, page = std::move(page)](const HttpRequest& request) {
        return answer(request, path, page);
    };
    BOBBIN_TRY(HttpServer server,
               HttpServer::start({.address = place.address, .port = place.port}, give, kLimits));
    state->server.emplace(std::move(server));
    return PageServer(std::move(state));
}

std::string PageServer::url() const { return "http://" + state_->server->host() + state_->path; }
std::uint16_t PageServer::port() const { return state_->server->place().port; }

Result<std::string> make_token() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        return fail_with(errno, "random bytes");
    }
    std::string token;
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

}  // namespace bobbin::serve
