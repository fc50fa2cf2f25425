// SPDX-License-Identifier: Apache-2.0
#include "serve/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "serve/http_client.h"

namespace bobbin::serve {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A directory for a socket; the name of a socket has at most 107 bytes.
class SocketDirectory {
public:
    SocketDirectory() {
        std::string path = "/tmp/bobbin-http-XXXXXX";
        if (::mkdtemp(path.data()) == nullptr) ADD_FAILURE() << path;
        path_ = path;
    }
    SocketDirectory(const SocketDirectory&) = delete;
    SocketDirectory& operator=(const SocketDirectory&) = delete;
    ~SocketDirectory() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string socket() const { return path_ / "x.sock"; }

private:
    std::filesystem::path path_;
};

HttpAnswer echo(const HttpRequest& request) {
    std::string text = request.method + " " + request.path;
    for (const auto& [name, value] : request.query.all()) text += " " + name + "=" + value;
    HttpAnswer answer{.status = 201, .body = text};
    answer.headers.add("X-Answer", "yes");
    return answer;
}

HttpServer start_server(const ListenPlace& place, HttpServer::Handler handler,
                        const HttpServer::Limits& limits = {}) {
    auto server = HttpServer::start(place, std::move(handler), limits);
    if (!server) ADD_FAILURE() << server.error().message();
    return std::move(*server);
}

HttpReply ask(const HttpQuestion& question) {
    const auto reply = ask_http(question);
    EXPECT_TRUE(reply) << reply.error().message();
    return reply ? *reply : HttpReply{};
}

UniqueFd connect_to(const std::string& path) {
    UniqueFd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(
        ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
        0);
    return connection;
}

void send_text(const UniqueFd& connection, const std::string& text) {
    EXPECT_EQ(::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
}

TEST(HttpServer, AnswersByASocketFileThatOthersMayNotOpen) {
    const SocketDirectory directory;
    const std::string path = directory.socket();
    {
        const HttpServer server = start_server({.socket_path = path}, echo);
        struct stat status{};
        ASSERT_EQ(::stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0660U);
        const HttpReply reply = ask({.url = "http://bobbin/a%20b?c=d%26e&f", .socket_file = path});
        EXPECT_EQ(reply.status, 201U);
        EXPECT_EQ(reply.body, "GET /a b c=d&e f=");
        const std::string* const header = reply.headers.find("x-answer");
        ASSERT_NE(header, nullptr);
        EXPECT_EQ(*header, "yes");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(HttpServer, AnswersOnAnAddress) {
    for (const char* const place : {"127.0.0.1:0", "[::1]:0"}) {
        const auto parsed = parse_listen_place(place);
        ASSERT_TRUE(parsed);
        const HttpServer server = start_server(*parsed, echo);
        const HttpReply reply = ask({.url = "http://" + server.host() + "/x", .method = "POST"});
        EXPECT_EQ(reply.body, "POST /x");
    }
}

// A name of the web that was made to point to this machine.
TEST(HttpServer, RefusesOtherNamesOfItself) {
    const HttpServer server = start_server({}, echo);
    const std::string url = "http://" + server.host() + "/";
    for (const char* const host : {"evil.example", "127.0.0.1", "localhost", "localhost:1", ""}) {
        EXPECT_EQ(ask({.url = url, .headers = {fmt::format("Host: {}", host)}}).status, 421U)
            << host;
    }
    const std::string local = fmt::format("Host: localhost:{}", server.place().port);
    EXPECT_EQ(ask({.url = url, .headers = {local}}).status, 201U);
}

TEST(HttpServer, KnowsNamesThatATunnelMayHave) {
    for (const char* const host :
         {"localhost", "localhost:7273", "127.0.0.1:1", "[::1]", "[::1]:80", "bobbin"}) {
        EXPECT_TRUE(is_name_of_this_machine(host)) << host;
    }
    for (const char* const host :
         {"", ":80", "evil.example", "evil.example:7273", "127.0.0.1.evil.example", "[::2]:80"}) {
        EXPECT_FALSE(is_name_of_this_machine(host)) << host;
    }
}

TEST(HttpServer, TakesOverTheFileOfADeadProcessOnly) {
    const SocketDirectory directory;
    const std::string path = directory.socket();
    {
        const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
                  0);
    }
    const HttpServer server = start_server({.socket_path = path}, echo);
    const auto second = HttpServer::start({.socket_path = path}, echo, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code().value(), EADDRINUSE);
    EXPECT_EQ(ask({.url = "http://bobbin/", .socket_file = path}).status, 201U);
}

TEST(HttpServer, KeepsAFileThatIsNoSocket) {
    const SocketDirectory directory;
    std::ofstream(directory.socket()) << "precious";
    EXPECT_FALSE(HttpServer::start({.socket_path = directory.socket()}, echo, {}));
    EXPECT_TRUE(std::filesystem::exists(directory.socket()));
}

// Waits until the asker has gone; what is proven is that this ends.
TEST(HttpServer, TellsWhenTheAskerHasGone) {
    const SocketDirectory directory;
    std::atomic<bool> is_begun = false;
    std::atomic<bool> is_ended = false;
    const HttpServer server =
        start_server({.socket_path = directory.socket()}, [&](const HttpRequest& request) {
            is_begun = true;
            is_begun.notify_all();
            while (!request.is_given_up()) ::poll(nullptr, 0, 1);
            is_ended = true;
            is_ended.notify_all();
            return HttpAnswer{};
        });
    {
        const UniqueFd connection = connect_to(directory.socket());
        send_text(connection, "GET / HTTP/1.1\r\nHost: bobbin\r\n\r\n");
        is_begun.wait(false);
        EXPECT_FALSE(is_ended);
    }
    is_ended.wait(false);
}

TEST(HttpServer, GivesUpWhatRunsWhenItStops) {
    const SocketDirectory directory;
    std::atomic<bool> is_begun = false;
    std::optional<HttpServer> server(
        start_server({.socket_path = directory.socket()}, [&](const HttpRequest& request) {
            is_begun = true;
            is_begun.notify_all();
            while (!request.is_given_up()) ::poll(nullptr, 0, 1);
            return HttpAnswer{};
        }));
    const UniqueFd connection = connect_to(directory.socket());
    send_text(connection, "GET / HTTP/1.1\r\nHost: bobbin\r\n\r\n");
    is_begun.wait(false);
    server.reset();
    EXPECT_FALSE(std::filesystem::exists(directory.socket()));
}

// The limit is of seconds, so the handler has to take more than one of them.
TEST(HttpServer, CountsTheHandlersTimeAsNoIdleTime) {
    const SocketDirectory directory;
    const HttpServer server = start_server({.socket_path = directory.socket()},
                                           [](const HttpRequest&) {
                                               ::poll(nullptr, 0, 2500);
                                               return HttpAnswer{.body = "late"};
                                           },
                                           {.idle = std::chrono::seconds{1}});
    EXPECT_EQ(ask({.url = "http://bobbin/", .socket_file = directory.socket()}).body, "late");
}

TEST(HttpServer, ReadsPastABodyUpToABound) {
    const SocketDirectory directory;
    const HttpServer server = start_server({.socket_path = directory.socket()}, echo);
    HttpQuestion question{.url = "http://bobbin/x",
                          .socket_file = directory.socket(),
                          .method = "POST",
                          .body = std::string(60 << 10, 'x')};
    EXPECT_EQ(ask(question).status, 201U);
    question.body = std::string(1 << 20, 'x');
    EXPECT_FALSE(ask_http(question));
}

TEST(HttpServer, RefusesMoreConnectionsThanItsBound) {
    const SocketDirectory directory;
    const HttpServer server =
        start_server({.socket_path = directory.socket()}, echo, {.max_connections = 2});
    const std::array<UniqueFd, 2> held{connect_to(directory.socket()),
                                       connect_to(directory.socket())};
    // Each is served, so each has been counted.
    for (const UniqueFd& connection : held) {
        send_text(connection, "GET / HTTP/1.1\r\nHost: bobbin\r\n\r\n");
        char first = 0;
        ASSERT_EQ(::recv(connection.get(), &first, 1, 0), 1);
    }
    EXPECT_FALSE(ask_http({.url = "http://bobbin/", .socket_file = directory.socket()}));
}

TEST(ParseListenPlace, ReadsWhatTheConfigurationHas) {
    EXPECT_EQ(parse_listen_place("unix:/run/x.sock")->socket_path, "/run/x.sock");
    EXPECT_EQ(parse_listen_place("[::1]:7273")->address, "::1");
    EXPECT_EQ(parse_listen_place("127.0.0.1:7273")->port, 7273);
    for (const char* const text : {"", "unix:x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536"}) {
        EXPECT_FALSE(parse_listen_place(text)) << text;
    }
    EXPECT_FALSE(HttpServer::start({.address = "localhost"}, echo, {}));
}

TEST(AskHttp, SaysThatNobodyListens) {
    const SocketDirectory directory;
    const HttpQuestion question{.url = "http://bobbin/", .socket_file = directory.socket()};
    const auto nothing = ask_http(question);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code().value(), ENOENT);
    const ListenPlace gone = start_server({}, echo).place();
    const auto refused = ask_http({.url = fmt::format("http://127.0.0.1:{}/", gone.port)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code().value(), ECONNREFUSED);
}

TEST(AskHttp, IsBoundedInTimeAndSize) {
    const SocketDirectory directory;
    const HttpServer server =
        start_server({.socket_path = directory.socket()}, [](const HttpRequest& request) {
            while (request.path == "/never" && !request.is_given_up()) ::poll(nullptr, 0, 1);
            return HttpAnswer{.body = std::string(10'000, 'x')};
        });
    HttpQuestion question{.url = "http://bobbin/", .socket_file = directory.socket()};
    question.max_answer_bytes = 10'000;
    EXPECT_EQ(ask(question).body.size(), 10'000U);
    question.max_answer_bytes = 9'999;
    const auto long_answer = ask_http(question);
    ASSERT_FALSE(long_answer);
    EXPECT_EQ(long_answer.error().code().value(), EMSGSIZE);
    question.url += "never";
    question.deadline = std::chrono::milliseconds{50};
    const auto late = ask_http(question);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code().value(), ETIMEDOUT);
}

TEST(EscapeQuery, EscapesWhatHasAMeaning) {
    EXPECT_EQ(escape_query("a-b.c_d~9"), "a-b.c_d~9");
    EXPECT_EQ(escape_query("comm=~\"x&y\" +"), "comm%3D~%22x%26y%22%20%2B");
}

TEST(EqualInConstantTime, ComparesAsAnyComparisonDoes) {
    EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
    EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
    EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
    EXPECT_TRUE(equal_in_constant_time("", ""));
}

}  // namespace
}  // namespace bobbin::serve
