// SPDX-License-Identifier: Apache-2.0
#include "serve/http_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

namespace bobbin::serve {
namespace {

constexpr std::size_t kMaxRequestBytes = 64 << 10;

MHD_Result add_field(void* fields, MHD_ValueKind /*kind*/, const char* name, const char* value) {
    static_cast<HttpFields*>(fields)->add(name, value != nullptr ? value : "");
    return MHD_YES;
}

bool has_gone(int connection) {
    pollfd poll{.fd = connection, .events = POLLRDHUP, .revents = 0};
    return ::poll(&poll, 1, 0) == 1 && (poll.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void drop_body(void* body) { delete static_cast<std::string*>(body); }

MHD_Result give(MHD_Connection* connection, HttpAnswer answer) {
    auto* const body = new std::string(std::move(answer.body));
    MHD_Response* const response = MHD_create_response_from_buffer_with_free_callback_cls(
        body->size(), body->data(), drop_body, body);
    if (response == nullptr) {
        drop_body(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", answer.content_type.c_str());
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    for (const auto& [name, value] : answer.headers.all()) {
        MHD_add_response_header(response, name.c_str(), value.c_str());
    }
    const MHD_Result result = MHD_queue_response(connection, answer.status, response);
    MHD_destroy_response(response);
    return result;
}

}  // namespace

struct HttpServer::State {
    State(ListenSocket listening, Handler answering, const Limits& limited)
        : socket(std::move(listening)), handler(std::move(answering)), limits(limited) {}
    ~State() {
        is_stopping = true;
        if (daemon != nullptr) MHD_stop_daemon(daemon);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[nodiscard]] bool is_asked_by_name(const std::string* host) const {
        if (host == nullptr) return false;
        if (!socket.place().socket_path.empty()) return is_name_of_this_machine(*host);
        return *host == socket.host() || *host == fmt::format("localhost:{}", socket.place().port);
    }
    [[nodiscard]] HttpRequest request_of(MHD_Connection* connection) const;
    [[nodiscard]] HttpAnswer answer_to(const HttpRequest& request) const {
        if (!is_asked_by_name(request.headers.find("Host"))) {
            return {.status = 421, .body = "another host's name was asked for\n"};
        }
        return handler(request);
    }

    // NOLINTNEXTLINE(readability-function-size): libmicrohttpd's parameters
    static MHD_Result access(void* self, MHD_Connection* connection, const char* url,
                             const char* method, const char* version, const char* data,
                             std::size_t* data_size, void** request);
    static void complete(void* self, MHD_Connection* connection, void** request,
                         MHD_RequestTerminationCode code);

    ListenSocket socket;
    Handler handler;
    Limits limits;
    std::atomic<bool> is_stopping = false;
    MHD_Daemon* daemon = nullptr;
};

HttpRequest HttpServer::State::request_of(MHD_Connection* connection) const {
    HttpRequest request;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, add_field, &request.headers);
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_field, &request.query);
    request.is_by_socket_file = !socket.place().socket_path.empty();
    const MHD_ConnectionInfo* const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int fd = info != nullptr ? info->connect_fd : -1;
    request.is_given_up = [this, fd] { return is_stopping || has_gone(fd); };
    return request;
}

// Called with the head of a request, then with each part of its body, then to be answered.
// NOLINTNEXTLINE(readability-function-size): libmicrohttpd's parameters
MHD_Result HttpServer::State::access(void* self, MHD_Connection* connection, const char* url,
                                     const char* method, const char* /*version*/,
                                     const char* /*data*/, std::size_t* data_size, void** request) {
    const auto& state = *static_cast<const State*>(self);
    if (*request == nullptr) {
        *request = new std::size_t{0};  // bytes of its body
        return MHD_YES;
    }
    if (*data_size != 0) {
        auto& size = *static_cast<std::size_t*>(*request);
        size += std::exchange(*data_size, 0);
        return size <= kMaxRequestBytes ? MHD_YES : MHD_NO;
    }
    HttpRequest asked = state.request_of(connection);
    asked.method = method;
    asked.path = url;
    HttpAnswer answer = state.answer_to(asked);
    // The handler's time is no idle time, and what follows would count it: a limit that is set
    // where there was none begins anew.
    for (const unsigned seconds : {0U, static_cast<unsigned>(state.limits.idle.count())}) {
        MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
    }
    return give(connection, std::move(answer));
}

void HttpServer::State::complete(void* /*self*/, MHD_Connection* /*connection*/, void** request,
                                 MHD_RequestTerminationCode /*code*/) {
    delete static_cast<std::size_t*>(std::exchange(*request, nullptr));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&& other) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&& other) noexcept = default;
HttpServer::~HttpServer() = default;

Result<HttpServer> HttpServer::start(const ListenPlace& place, Handler handler,
                                     const Limits& limits) {
    BOBBIN_TRY(ListenSocket socket, ListenSocket::open(place));
    auto state = std::make_unique<State>(std::move(socket), std::move(handler), limits);
    // poll(), because the numbers of descriptors of a service pass select()'s 1,024.
    const unsigned flags = static_cast<unsigned>(MHD_USE_INTERNAL_POLLING_THREAD) |
                           static_cast<unsigned>(MHD_USE_THREAD_PER_CONNECTION) |
                           static_cast<unsigned>(MHD_USE_POLL);
    const int listening = state->socket.release();  // the library closes it
    state->daemon = MHD_start_daemon(
        flags, place.port, nullptr, nullptr, &State::access, state.get(), MHD_OPTION_LISTEN_SOCKET,
        listening, MHD_OPTION_CONNECTION_LIMIT, limits.max_connections,
        MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(limits.idle.count()),
        MHD_OPTION_NOTIFY_COMPLETED, &State::complete, nullptr, MHD_OPTION_END);
    if (state->daemon == nullptr) {
        const UniqueFd unused(listening);
        return fail_with(errno, "start the server of HTTP");
    }
    return HttpServer(std::move(state));
}

const ListenPlace& HttpServer::place() const { return state_->socket.place(); }
std::string HttpServer::host() const { return state_->socket.host(); }

bool is_name_of_this_machine(std::string_view host) {
    if (host.starts_with('[')) return host == "[::1]" || host.starts_with("[::1]:");
    const std::string_view name = host.substr(0, host.find(':'));
    return name == "127.0.0.1" || (!name.empty() && name.find('.') == std::string_view::npos);
}

}  // namespace bobbin::serve
