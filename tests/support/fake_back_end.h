// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace bobbin::test {

// What came over the wire.
struct Received {
    std::string method;
    std::string target;                          // path and query, as sent
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;

    [[nodiscard]] std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? "" : found->second;
    }
};

struct Answered {
    int status = 200;
    std::string headers;  // "Name: value\r\n"...
};

// A server on a loopback port that takes whole requests with a length (RFC 9112) and keeps them,
// one connection at a time. An answer that is not there leaves the client waiting until the end.
class FakeBackEnd {
public:
    using Handler = std::function<std::optional<Answered>(const Received&)>;

    explicit FakeBackEnd(Handler handler = [](const Received&) { return Answered{}; })
        : handler_(std::move(handler)),
          listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listening_.get(), any, size) != 0 || ::listen(listening_.get(), 16) != 0 ||
            ::getsockname(listening_.get(), any, &size) != 0) {
            ADD_FAILURE() << "cannot listen";
        }
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

    // Those so far.
    [[nodiscard]] std::vector<Received> received() {
        const std::scoped_lock lock(mutex_);
        return received_;
    }
    // Once there are so many, or what there is after a minute.
    [[nodiscard]] std::vector<Received> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return received_.size() >= count; });
        EXPECT_GE(received_.size(), count);
        return received_;
    }

private:
    void run(const std::stop_token& stop) {
        std::vector<UniqueFd> waiting;
        while (!stop.stop_requested()) {
            pollfd event{.fd = listening_.get(), .events = POLLIN, .revents = 0};
            if (::poll(&event, 1, 50) <= 0) continue;
            UniqueFd connection(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            const std::optional<Received> request = read(connection.get());
            if (!request) continue;
            const auto answer = handler_(*request);
            if (answer) {
                const std::string text = "HTTP/1.1 " + std::to_string(answer->status) + " X\r\n" +
                                         answer->headers +
                                         "Content-Length: 0\r\nConnection: close\r\n\r\n";
                (void)!::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL);
            } else {
                waiting.push_back(std::move(connection));
            }
            const std::scoped_lock lock(mutex_);
            received_.push_back(*request);
            changed_.notify_all();
        }
    }

    // nullopt: the client has gone.
    static std::optional<Received> read(int connection) {
        std::string bytes;
        std::size_t head_end = std::string::npos;
        while ((head_end = bytes.find("\r\n\r\n")) == std::string::npos) {
            if (!read_more(connection, bytes)) return std::nullopt;
        }
        Received request = parse_head(std::string_view(bytes).substr(0, head_end + 2));
        const std::string length = request.header("content-length");
        std::size_t size = 0;
        const auto [end, problem] =
            std::from_chars(length.data(), length.data() + length.size(), size);
        EXPECT_TRUE(problem == std::errc{} && !length.empty()) << "Content-Length: " << length;
        while (bytes.size() < head_end + 4 + size) {
            if (!read_more(connection, bytes)) return std::nullopt;
        }
        request.body = bytes.substr(head_end + 4);
        EXPECT_EQ(request.body.size(), size);
        return request;
    }

    static bool read_more(int connection, std::string& bytes) {
        std::string part(65536, '\0');
        const ssize_t count = ::recv(connection, part.data(), part.size(), 0);
        if (count <= 0) return false;
        bytes.append(part, 0, static_cast<std::size_t>(count));
        return true;
    }

    static Received parse_head(std::string_view head) {
        Received request;
        const auto line_of = [&head] {
            const std::size_t end = head.find("\r\n");
            const std::string_view line = head.substr(0, end);
            head.remove_prefix(end + 2);
            return line;
        };
        const std::string_view first = line_of();
        const std::size_t space = first.find(' ');
        const std::size_t second = first.rfind(' ');
        EXPECT_EQ(first.substr(second + 1), "HTTP/1.1");
        request.method = first.substr(0, space);
        request.target = first.substr(space + 1, second - space - 1);
        while (!head.empty()) {
            const std::string_view line = line_of();
            const std::size_t colon = line.find(':');
            std::string name(line.substr(0, colon));
            for (char& c : name) c = static_cast<char>(std::tolower(c));
            std::string_view value = line.substr(colon + 1);
            while (value.starts_with(' ')) value.remove_prefix(1);
            EXPECT_TRUE(request.headers.emplace(name, value).second) << name << " twice";
        }
        return request;
    }

    Handler handler_;
    UniqueFd listening_;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Received> received_;
    std::jthread thread_;
};

// A port of this machine at which nobody listens: bound, so that nobody else gets it.
class DeadPort {
public:
    DeadPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(socket_.get(), any, size), 0);
        EXPECT_EQ(::getsockname(socket_.get(), any, &size), 0);
        port_ = ntohs(address.sin_port);
    }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

private:
    UniqueFd socket_;
    std::uint16_t port_ = 0;
};

}  // namespace bobbin::test
