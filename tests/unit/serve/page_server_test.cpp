// SPDX-License-Identifier: Apache-2.0
#include "serve/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>

#include "base/unique_fd.h"

namespace bobbin::serve {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// One request, the answer up to the end of the connection.
std::string ask(std::uint16_t port, const std::string& request) {
    const UniqueFd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
        0) {
        return "no connection";
    }
    EXPECT_EQ(::send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    std::string answer;
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t size = ::recv(connection.get(), buffer.data(), buffer.size(), 0);
        if (size <= 0) return answer;
        answer.append(buffer.data(), static_cast<std::size_t>(size));
    }
}

class PageServerTest : public testing::Test {
protected:
    PageServerTest() {
        auto started = PageServer::start({}, "<p>the page</p>");
        if (!started) {
            ADD_FAILURE() << started.error().message();
            return;
        }
        server_.emplace(std::move(*started));
        const std::string url = server_->url();
        path_ = url.substr(url.find('/', std::string("http://").size()));
        host_ = fmt::format("127.0.0.1:{}", server_->port());
    }
    std::string request(const std::string& method, const std::string& path,
                        const std::string& host) const {
        return ask(server_->port(), fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n"
                                                "Connection: close\r\n\r\n",
                                                method, path, host));
    }
    std::optional<PageServer> server_;
    std::string path_;
    std::string host_;
};

constexpr const char* kFound = "HTTP/1.1 200";
constexpr const char* kNotFound = "HTTP/1.1 404";

TEST_F(PageServerTest, GivesThePageToWhoKnowsTheAddress) {
    EXPECT_THAT(path_, MatchesRegex("/[0-9a-f]{32}/"));
    const std::string answer = request("GET", path_, host_);
    EXPECT_THAT(answer, StartsWith(kFound));
    EXPECT_THAT(answer, HasSubstr("\r\n\r\n<p>the page</p>"));
    EXPECT_THAT(answer, HasSubstr("Referrer-Policy: no-referrer"));
    EXPECT_THAT(request("GET", path_, fmt::format("localhost:{}", server_->port())),
                StartsWith(kFound));
}

TEST_F(PageServerTest, GivesNothingToOthers) {
    std::string wrong = path_;
    wrong[1] = wrong[1] == '0' ? '1' : '0';
    for (const std::string& path :
         {std::string("/"), wrong, path_ + "x", std::string("/favicon.ico"),
          path_.substr(0, path_.size() - 1)}) {
        const std::string answer = request("GET", path, host_);
        EXPECT_THAT(answer, StartsWith(kNotFound)) << path;
        EXPECT_THAT(answer, Not(HasSubstr("the page"))) << path;
    }
}

// A name of the web that was made to point to this machine.
TEST_F(PageServerTest, GivesNothingUnderAnotherName) {
    for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1", ""}) {
        EXPECT_THAT(request("GET", path_, host), Not(HasSubstr("the page"))) << host;
    }
}

TEST_F(PageServerTest, TakesNothing) {
    EXPECT_THAT(request("POST", path_, host_), StartsWith(kNotFound));
    EXPECT_THAT(request("DELETE", path_, host_), StartsWith(kNotFound));
    const std::string head = request("HEAD", path_, host_);
    EXPECT_THAT(head, StartsWith(kFound));
    EXPECT_THAT(head, Not(HasSubstr("the page")));
}

TEST_F(PageServerTest, HasAnotherTokenEachTime) {
    const auto other = PageServer::start({}, "");
    ASSERT_TRUE(other) << other.error().message();
    EXPECT_THAT(other->url(), Not(HasSubstr(path_)));
}

TEST_F(PageServerTest, SaysThatAPortIsTaken) {
    const auto second = PageServer::start({.port = server_->port()}, "");
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message(), HasSubstr(std::to_string(server_->port())));
    EXPECT_FALSE(PageServer::start({.address = "localhost"}, ""));
}

}  // namespace
}  // namespace bobbin::serve
