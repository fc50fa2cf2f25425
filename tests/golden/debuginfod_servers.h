// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "support/child_process.h"

namespace bobbin::test {

std::uint16_t find_free_port();

// elfutils' own server, on the ELF files below a directory; it has seen them when this is made.
class Debuginfod {
public:
    explicit Debuginfod(const std::string& directory);
    [[nodiscard]] std::string url() const;

private:
    std::uint16_t port_ = find_free_port();
    ChildProcess process_;
};

// A server that takes connections and, but for an empty `answer`, gives each of them that.
class FakeServer {
public:
    explicit FakeServer(std::string answer);
    ~FakeServer();
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;

    [[nodiscard]] std::string url() const;
    void wait_for_connection() const { connection_count_.wait(0); }
    [[nodiscard]] std::size_t connection_count() const { return connection_count_; }

private:
    void serve();

    std::string answer_;
    std::uint16_t port_ = 0;  // before what sets it
    UniqueFd listener_;
    std::atomic<std::size_t> connection_count_{0};
    std::thread thread_;
};

// "HTTP/1.1 200 OK" with this content.
std::string http_answer(const std::string& content);

}  // namespace bobbin::test
