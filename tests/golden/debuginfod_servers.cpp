// SPDX-License-Identifier: Apache-2.0
#include "golden/debuginfod_servers.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>
#include <vector>

namespace bobbin::test {
namespace {

// On a port of loopback that the kernel chooses.
UniqueFd open_listener(std::uint16_t& port) {
    UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), place, size), 0);
    EXPECT_EQ(::listen(listener.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener.get(), place, &size), 0);
    port = ntohs(address.sin_port);
    return listener;
}

// Up to the empty line that ends a request.
void read_request(int connection) {
    std::string text;
    std::array<char, 4096> piece{};
    while (text.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = ::read(connection, piece.data(), piece.size());
        if (count <= 0) return;
        text.append(piece.data(), static_cast<std::size_t>(count));
    }
}

}  // namespace

std::uint16_t find_free_port() {
    std::uint16_t port = 0;
    open_listener(port);
    return port;
}

Debuginfod::Debuginfod(const std::string& directory)
    : process_({"/bin/sh", "-c", "exec debuginfod -vv -d :memory: -p \"$0\" -F \"$1\" 2>&1",
                std::to_string(port_), directory}) {
    // It grooms when it has scanned.
    EXPECT_TRUE(process_.wait_for_output("groomed database")) << "debuginfod does not run";
}

std::string Debuginfod::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

FakeServer::FakeServer(std::string answer)
    : answer_(std::move(answer)), listener_(open_listener(port_)), thread_([this] { serve(); }) {}

FakeServer::~FakeServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
}

std::string FakeServer::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

void FakeServer::serve() {
    std::vector<UniqueFd> silent;
    while (true) {
        UniqueFd connection(::accept(listener_.get(), nullptr, nullptr));
        if (!connection.is_open()) return;
        ++connection_count_;
        connection_count_.notify_all();
        if (answer_.empty()) {
            silent.push_back(std::move(connection));
            continue;
        }
        read_request(connection.get());
        ::send(connection.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
}

std::string http_answer(const std::string& content) {
    return "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n"
           "Content-Length: " +
           std::to_string(content.size()) + "\r\n\r\n" + content;
}

}  // namespace bobbin::test
