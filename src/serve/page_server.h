// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace bobbin::serve {

// Gives one HTML page to those who know its address, until it is destroyed. Its path is
// "/TOKEN/", 128 random bits, so another user of this machine cannot guess it. Other paths and
// other methods than GET and HEAD get 404.
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

// 32 hexadecimal digits that nobody can guess.
Result<std::string> make_token();

}  // namespace bobbin::serve
