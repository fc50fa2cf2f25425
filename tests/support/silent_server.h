// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "base/unique_fd.h"
#include "support/child_process.h"

namespace bobbin::test {

// Takes connections on a loopback port and never says a word.
class SilentServer {
public:
    SilentServer() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(listening_.get(), any, size), 0);
        EXPECT_EQ(::listen(listening_.get(), 16), 0);
        EXPECT_EQ(::getsockname(listening_.get(), any, &size), 0);
        url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    }
    [[nodiscard]] const std::string& url() const { return url_; }

    // False when nobody asked in a generous time.
    [[nodiscard]] bool wait_until_asked() const {
        pollfd waits{listening_.get(), POLLIN, 0};
        return ::poll(&waits, 1, static_cast<int>(kGenerousTimeout.count()) * 1000) == 1;
    }

private:
    UniqueFd listening_;
    std::string url_;
};

}  // namespace bobbin::test
