// SPDX-License-Identifier: Apache-2.0
#include "symbolize/message_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "symbolize/object_messages.h"

namespace bobbin::symbolize {
namespace {

using Clock = MessageSocket::Clock;

struct MessageHeader {
    std::uint32_t kind = 0;
    std::uint32_t payload_bytes = 0;
};

// A large answer comes in pieces: memory is taken as they arrive, not as the header promises.
constexpr std::size_t kReceivedAtOnceBytes = std::size_t{1} << 20;

union ControlBytes {
    cmsghdr align;
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

int flags_for(Clock::time_point deadline) {
    return deadline == Clock::time_point::max() ? 0 : MSG_DONTWAIT;
}

// 0, or ETIMEDOUT.
int wait_until_ready(int fd, short events, Clock::time_point deadline) {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) return ETIMEDOUT;
        pollfd waiting{.fd = fd, .events = events, .revents = 0};
        if (::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000))) >
            0) {
            return 0;
        }
    }
}

// Sends or receives all of `bytes` by calls that each move a part; 0 or an errno.
template <class Move>
int move_all(int fd, short events, std::span<std::byte> bytes, Clock::time_point deadline,
             Move move) {
    while (!bytes.empty()) {
        const ssize_t count = move(bytes);
        if (count > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (count == 0 || errno == EPIPE || errno == ECONNRESET) {
            return EPIPE;
        } else if (errno == EAGAIN) {
            if (const int error = wait_until_ready(fd, events, deadline); error != 0) return error;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

// The one descriptor there is room for; the kernel keeps those that find none.
void take_fd(msghdr& message, UniqueFd& fd) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
        const bool holds_fd = part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
                              part->cmsg_len == CMSG_LEN(sizeof(int));
        if (!holds_fd) continue;
        int received = -1;
        std::memcpy(&received, CMSG_DATA(part), sizeof(received));
        fd.reset(received);
    }
}

}  // namespace

Result<> MessageSocket::send(MessageKind kind, std::span<const std::byte> payload, int fd,
                             Clock::time_point deadline) const {
    if (payload.size() > kMaxMessageBytes) return fail_with(EMSGSIZE, "send a message");
    const MessageHeader header{static_cast<std::uint32_t>(kind),
                               static_cast<std::uint32_t>(payload.size())};
    std::vector<std::byte> bytes(sizeof(header) + payload.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    if (!payload.empty()) std::ranges::copy(payload, bytes.begin() + sizeof(header));

    bool fd_is_sent = fd < 0;
    const int error = move_all(fd_.get(), POLLOUT, bytes, deadline, [&](std::span<std::byte> rest) {
        ControlBytes control{};
        iovec part{rest.data(), rest.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (!fd_is_sent) {
            message.msg_control = control.bytes.data();
            message.msg_controllen = control.bytes.size();
            cmsghdr* const rights = CMSG_FIRSTHDR(&message);
            rights->cmsg_level = SOL_SOCKET;
            rights->cmsg_type = SCM_RIGHTS;
            rights->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
        }
        const ssize_t count = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | flags_for(deadline));
        fd_is_sent = fd_is_sent || count > 0;
        return count;
    });
    if (error != 0) return fail_with(error, "send a message");
    return {};
}

Result<Message> MessageSocket::receive(Clock::time_point deadline) const {
    Message result;
    const auto receive_into = [&](std::span<std::byte> target) {
        return move_all(fd_.get(), POLLIN, target, deadline, [&](std::span<std::byte> rest) {
            ControlBytes control{};
            iovec part{rest.data(), rest.size()};
            msghdr message{};
            message.msg_iov = &part;
            message.msg_iovlen = 1;
            message.msg_control = control.bytes.data();
            message.msg_controllen = CMSG_LEN(sizeof(int));  // one: CMSG_SPACE has room for two
            const ssize_t count =
                ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC | flags_for(deadline));
            if (count > 0) take_fd(message, result.fd);
            return count;
        });
    };
    MessageHeader header;
    const std::span header_bytes = std::as_writable_bytes(std::span(&header, 1));
    if (const int error = receive_into(header_bytes); error != 0) {
        return fail_with(error, "receive a message");
    }
    result.kind = static_cast<MessageKind>(header.kind);
    if (header.payload_bytes > kMaxMessageBytes) return fail_with(EMSGSIZE, "receive a message");
    while (result.payload.size() < header.payload_bytes) {
        const std::size_t at = result.payload.size();
        result.payload.resize(at + std::min(header.payload_bytes - at, kReceivedAtOnceBytes));
        if (const int error = receive_into(std::span(result.payload).subspan(at)); error != 0) {
            return fail_with(error, "receive a message");
        }
    }
    return result;
}

bool MessageSocket::is_closed_by_peer() const {
    pollfd state{.fd = fd_.get(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&state, 1, 0) == 1;
}

}  // namespace bobbin::symbolize
