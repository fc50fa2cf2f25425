// SPDX-License-Identifier: Apache-2.0
#include "serve/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace bobbin::serve {
namespace {

constexpr unsigned kMostConnections = 64;
constexpr unsigned kIdleSeconds = 30;

struct SocketAddress {
    sockaddr_storage storage{};
    bool is_ipv6 = false;
};

Result<SocketAddress> parse_address(const PageServer::Place& place) {
    SocketAddress address;
    auto* const v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    if (::inet_pton(AF_INET, place.address.c_str(), &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(place.port);
        return address;
    }
    if (::inet_pton(AF_INET6, place.address.c_str(), &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(place.port);
        address.is_ipv6 = true;
        return address;
    }
    return fail("{} is not an address like 127.0.0.1 or ::1", place.address);
}

Result<std::string> make_token() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        return fail_with(errno, "random bytes");
    }
    std::string token;
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

// What the page's own policy cannot say: no other page may frame it or learn its address.
constexpr std::array<std::pair<const char*, const char*>, 6> kHeaders{{
    {"Content-Type", "text/html; charset=utf-8"},
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy", "frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
}};

}  // namespace

struct PageServer::State {
    std::string page;
    std::string path;
    std::string host;        // as in the address
    std::string other_host;  // localhost
    std::uint16_t port = 0;
    MHD_Daemon* daemon = nullptr;

    ~State() {
        if (daemon != nullptr) MHD_stop_daemon(daemon);
    }

    [[nodiscard]] bool is_allowed(std::string_view method, std::string_view asked,
                                  const char* asked_host) const {
        if (method != "GET" && method != "HEAD") return false;
        if (asked_host == nullptr || (asked_host != host && asked_host != other_host)) return false;
        return equal_in_constant_time(asked, path);
    }

    // NOLINTNEXTLINE(readability-function-size): libmicrohttpd's parameters
    static MHD_Result answer(void* self, MHD_Connection* connection, const char* url,
                             const char* method, const char* version, const char* data,
                             size_t* data_size, void** request);
};

// NOLINTNEXTLINE(readability-function-size): libmicrohttpd's parameters
MHD_Result PageServer::State::answer(void* self, MHD_Connection* connection, const char* url,
                                     const char* method, const char* /*version*/,
                                     const char* /*data*/, size_t* data_size, void** /*request*/) {
    const auto& state = *static_cast<const State*>(self);
    *data_size = 0;
    const char* const host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    const bool is_allowed = state.is_allowed(method, url, host);
    // The library asks for char* but, persistent, only reads.
    MHD_Response* const response = MHD_create_response_from_buffer(
        is_allowed ? state.page.size() : 0, const_cast<char*>(state.page.data()),
        MHD_RESPMEM_PERSISTENT);
    if (response == nullptr) return MHD_NO;
    for (const auto& [name, value] : kHeaders) MHD_add_response_header(response, name, value);
    const MHD_Result result =
        MHD_queue_response(connection, is_allowed ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, response);
    MHD_destroy_response(response);
    return result;
}

PageServer::PageServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
PageServer::PageServer(PageServer&& other) noexcept = default;
PageServer::~PageServer() = default;

Result<PageServer> PageServer::start(const Place& place, std::string page) {
    BOBBIN_TRY(const SocketAddress address, parse_address(place));
    BOBBIN_TRY(const std::string token, make_token());
    auto state = std::make_unique<State>();
    state->page = std::move(page);
    state->path = "/" + token + "/";
    const unsigned flags = static_cast<unsigned>(MHD_USE_INTERNAL_POLLING_THREAD) |
                           (address.is_ipv6 ? static_cast<unsigned>(MHD_USE_IPv6) : 0U);
    state->daemon = MHD_start_daemon(
        flags, place.port, nullptr, nullptr, &State::answer, state.get(), MHD_OPTION_SOCK_ADDR,
        reinterpret_cast<const sockaddr*>(&address.storage), MHD_OPTION_CONNECTION_LIMIT,
        kMostConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_END);
    if (state->daemon == nullptr) {
        return fail_with(errno, "listen on {} port {}", place.address, place.port);
    }
    state->port = MHD_get_daemon_info(state->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    const std::string host = address.is_ipv6 ? "[" + place.address + "]" : place.address;
    state->host = fmt::format("{}:{}", host, state->port);
    state->other_host = fmt::format("localhost:{}", state->port);
    return PageServer(std::move(state));
}

std::string PageServer::url() const { return "http://" + state_->host + state_->path; }
std::uint16_t PageServer::port() const { return state_->port; }

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    }
    return different == 0;
}

}  // namespace bobbin::serve
