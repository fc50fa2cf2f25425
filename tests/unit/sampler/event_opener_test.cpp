// SPDX-License-Identifier: Apache-2.0
#include "sampler/event_opener.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "support/temporary_directory.h"

namespace bobbin::sampler {
namespace {

// An opener in this process.
class Opener {
public:
    Opener() : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
        const sockaddr_un address = socket_address();
        EXPECT_EQ(
            ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        EXPECT_EQ(::listen(socket_.get(), 8), 0);
    }
    ~Opener() {
        ::shutdown(socket_.get(), SHUT_RDWR);
        if (thread_.joinable()) thread_.join();
    }
    Opener(const Opener&) = delete;
    Opener& operator=(const Opener&) = delete;

    void serve() {
        thread_ = std::thread([this] { (void)serve_event_opener(socket_.get(), -1); });
    }
    [[nodiscard]] int serve_nobody() const { return serve_event_opener(socket_.get(), 0); }
    [[nodiscard]] std::string path() const { return directory_ / "socket"; }
    [[nodiscard]] UniqueFd connected() const {
        const sockaddr_un address = socket_address();
        UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        EXPECT_EQ(
            ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
        return socket;
    }

private:
    [[nodiscard]] sockaddr_un socket_address() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path().copy(address.sun_path, sizeof(address.sun_path) - 1);
        return address;
    }

    test::TemporaryDirectory directory_;
    UniqueFd socket_;
    std::thread thread_;
};

// There is no CPU 60000 here: the kernel's answer comes back whole, through both programs.
TEST(EventOpener, HandsOverTheKernelsError) {
    Opener opener;
    opener.serve();
    const auto event = ask_event_opener(60'000, 19, opener.path().c_str());
    ASSERT_FALSE(event);
    // Who may not open events at all hears that first.
    const int code = event.error().code().value();
    EXPECT_TRUE(code == ENODEV || code == EINVAL || code == EACCES || code == EPERM)
        << event.error().message();
}

TEST(EventOpener, RefusesRatesThatAreNone) {
    Opener opener;
    opener.serve();
    for (const std::uint32_t hz : {0U, 10'001U, ~0U}) {
        const auto event = ask_event_opener(0, hz, opener.path().c_str());
        ASSERT_FALSE(event) << hz;
        EXPECT_EQ(event.error().code().value(), EINVAL) << hz;
    }
    const auto event = ask_event_opener(-1, 19, opener.path().c_str());
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().code().value(), EINVAL);
}

TEST(EventOpener, AnswersNothingButRequests) {
    Opener opener;
    const std::array<UniqueFd, 3> strangers{opener.connected(), opener.connected(),
                                            opener.connected()};
    const std::array<char, 64> bytes{};
    EXPECT_EQ(::send(strangers[0].get(), bytes.data(), 7, 0), 7);
    EXPECT_EQ(::send(strangers[1].get(), bytes.data(), bytes.size(), 0), 64);
    EXPECT_EQ(::shutdown(strangers[2].get(), SHUT_WR), 0);
    opener.serve();
    for (const UniqueFd& stranger : strangers) {
        char answer = 0;
        EXPECT_EQ(::recv(stranger.get(), &answer, 1, 0), 0);
    }
}

TEST(EventOpener, EndsWhenNobodyAsks) {
    const Opener opener;
    EXPECT_EQ(opener.serve_nobody(), 0);
}

TEST(EventOpener, NeedsAListeningSocket) {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(serve_event_opener(socket.get(), 0), 2);
    EXPECT_EQ(serve_event_opener(-1, 0), 2);
}

TEST(EventOpener, IsMissedWithTheReason) {
    const test::TemporaryDirectory directory;
    const auto event = ask_event_opener(0, 19, (directory / "nobody").c_str());
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().code().value(), ENOENT);
    EXPECT_FALSE(ask_event_opener(0, 19, std::string(200, 'x').c_str()));
}

}  // namespace
}  // namespace bobbin::sampler
