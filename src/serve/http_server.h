// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "serve/http_message.h"
#include "serve/listen_socket.h"

namespace bobbin::serve {

// Answers HTTP on this machine until it is destroyed. Each connection has a thread; beyond
// `max_connections` new ones are refused. Bodies of requests are read past, up to 64 KiB.
//
// A page of the web can have its name point to this machine and then ask from within a browser;
// such a request names another Host, and gets 421. Right is the address itself or localhost, both
// with the port; by a socket file, to which a browser comes through a tunnel of ssh, a name without
// a dot or a loopback address.
class HttpServer {
public:
    using Handler = std::function<HttpAnswer(const HttpRequest&)>;
    struct Limits {
        unsigned max_connections = 32;
        std::chrono::seconds idle = std::chrono::seconds{30};  // while nothing is read or written
    };

    // `handler` is called on the threads of connections, several at a time.
    static Result<HttpServer> start(const ListenPlace& place, Handler handler,
                                    const Limits& limits);
    HttpServer(HttpServer&& other) noexcept;
    HttpServer& operator=(HttpServer&& other) noexcept;
    // Waits for the handlers that run, whose is_given_up answers true from now on.
    ~HttpServer();

    [[nodiscard]] const ListenPlace& place() const;  // with the port it has
    [[nodiscard]] std::string host() const;          // as ListenSocket's

private:
    struct State;
    explicit HttpServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Whether a connection by a socket file may call this machine so.
bool is_name_of_this_machine(std::string_view host);

}  // namespace bobbin::serve
