// SPDX-License-Identifier: Apache-2.0
#include "service/http_service.h"

#include <optional>
#include <utility>

#include "serve/http_server.h"
#include "service/http_routes.h"

namespace bobbin::service {

struct HttpService::State {
    State(Control& control, std::string store_path) : routes(control, std::move(store_path)) {}

    HttpRoutes routes;
    std::string place;
    std::optional<serve::HttpServer> server;  // stops first
};

HttpService::HttpService(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpService::HttpService(HttpService&& other) noexcept = default;
HttpService& HttpService::operator=(HttpService&& other) noexcept = default;
HttpService::~HttpService() = default;

Result<HttpService> HttpService::start(const std::string& listen, Control& control,
                                       std::string store_path) {
    auto state = std::make_unique<State>(control, std::move(store_path));
    if (listen.empty()) return HttpService(std::move(state));
    BOBBIN_TRY(const serve::ListenPlace place, serve::parse_listen_place(listen));
    const auto answer = [&routes = state->routes](const serve::HttpRequest& request) {
        return routes.answer(request);
    };
    BOBBIN_TRY(serve::HttpServer server, serve::HttpServer::start(place, answer, {}));
    state->server.emplace(std::move(server));
    state->place = place.socket_path.empty() ? "http://" + state->server->host() + "/" : listen;
    return HttpService(std::move(state));
}

const std::string& HttpService::place() const { return state_->place; }

}  // namespace bobbin::service
