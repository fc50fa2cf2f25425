// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bobbin::serve {

// Gives one HTML page to those who know its address, until it is destroyed. Its path is
// "/TOKEN/", 128 random bits, so another user of this machine cannot guess it. Everything else is
// 404: other paths, other methods than GET and HEAD, and another Host than the address itself or
// localhost, which a page of the web that had its name point to this machine would send.
// libmicrohttpd's own thread answers.
class PageServer {
public:
    struct Place {
        std::string address = "127.0.0.1";  // IPv4 or IPv6, as numbers
        std::uint16_t port = 0;             // 0: one that is free
    };

    static Result<PageServer> start(const Place& place, std::string page);

    PageServer(PageServer&& other) noexcept;
    PageServer& operator=(PageServer&&) = delete;
    ~PageServer();

    // "http://127.0.0.1:40123/0123456789abcdef0123456789abcdef/"
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::uint16_t port() const;

private:
    struct State;
    explicit PageServer(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

// Takes the same time wherever the texts differ, so that time does not tell how much of a token was
// right.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace bobbin::serve
