// SPDX-License-Identifier: Apache-2.0
#include "sampler/event_opener.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "sampler/cpu_clock.h"

namespace bobbin::sampler {
namespace {

// Each is one packet, between two programs of one build on one machine.
struct EventRequest {
    std::uint32_t cpu = 0;
    std::uint32_t frequency_hz = 0;
};
struct EventAnswer {
    std::int32_t error = 0;  // errno; 0: the event comes with it
};

constexpr std::uint32_t kMaxFrequencyHz = 10'000;
constexpr std::uint32_t kMaxCpu = 1U << 16;

// Who connects asks at once; nobody else is answered meanwhile.
constexpr timeval kPatienceWithAsker{.tv_sec = 1, .tv_usec = 0};
// The service manager may have to start the opener first.
constexpr timeval kPatienceWithOpener{.tv_sec = 10, .tv_usec = 0};

void set_patience(int socket, const timeval& patience) {
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

Result<UniqueFd> open_asked(const EventRequest& request) {
    if (request.cpu > kMaxCpu || request.frequency_hz == 0 ||
        request.frequency_hz > kMaxFrequencyHz) {
        return fail_with(EINVAL, "cpu {} at {} Hz", request.cpu, request.frequency_hz);
    }
    return open_cpu_clock(static_cast<int>(request.cpu), request.frequency_hz);
}

// One descriptor's worth of control message, aligned as the kernel wants it.
struct alignas(cmsghdr) Control {
    std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

void send_answer(int socket, EventAnswer answer, const UniqueFd& event) {
    iovec data{.iov_base = &answer, .iov_len = sizeof(answer)};
    Control control;
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (event.is_open()) {
        message.msg_control = control.bytes.data();
        message.msg_controllen = control.bytes.size();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = event.get();
        std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    (void)::sendmsg(socket, &message, MSG_NOSIGNAL);
}

void answer_one(const UniqueFd& asker) {
    set_patience(asker.get(), kPatienceWithAsker);
    EventRequest request;
    // MSG_TRUNC: the whole length of a packet, whatever there was room for.
    if (::recv(asker.get(), &request, sizeof(request), MSG_TRUNC) != ssize_t{sizeof(request)}) {
        return;
    }
    auto event = open_asked(request);
    if (event) return send_answer(asker.get(), {}, *event);
    send_answer(asker.get(), {.error = event.error().code().value()}, UniqueFd());
}

bool is_listening(int socket) {
    int accepts = 0;
    socklen_t size = sizeof(accepts);
    return ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 && accepts != 0;
}

UniqueFd descriptor_in(msghdr& message) {
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(sizeof(int))) {
        return UniqueFd();
    }
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return UniqueFd(fd);
}

Result<UniqueFd> receive_event(int socket) {
    EventAnswer answer;
    iovec data{.iov_base = &answer, .iov_len = sizeof(answer)};
    Control control;
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (size < 0) return fail_with(errno, "hear from it");
    UniqueFd event = descriptor_in(message);
    if (size != ssize_t{sizeof(answer)}) return fail_with(EPROTO, "hear from it");
    if (answer.error != 0) return fail_with(answer.error, "perf_event_open");
    if (!event.is_open()) return fail_with(EPROTO, "hear from it");
    return event;
}

Result<UniqueFd> connect_to(std::string_view path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return fail_with(ENAMETOOLONG, "connect");
    path.copy(address.sun_path, path.size());
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return fail_with(errno, "open a socket");
    set_patience(socket.get(), kPatienceWithOpener);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
        0) {
        return fail_with(errno, "connect");
    }
    return socket;
}

Result<UniqueFd> ask(const EventRequest& request, const char* socket_path) {
    BOBBIN_TRY(const UniqueFd socket, connect_to(socket_path));
    if (::send(socket.get(), &request, sizeof(request), MSG_NOSIGNAL) < 0) {
        return fail_with(errno, "ask");
    }
    return receive_event(socket.get());
}

}  // namespace

int serve_event_opener(int listening_fd, int patience_ms) {
    if (!is_listening(listening_fd)) {
        std::fputs("bobbin: event-opener is started by bobbin-events.socket alone\n", stderr);
        return 2;
    }
    for (;;) {
        pollfd waiting{.fd = listening_fd, .events = POLLIN, .revents = 0};
        if (::poll(&waiting, 1, patience_ms) <= 0) return 0;
        const UniqueFd asker(::accept4(listening_fd, nullptr, nullptr, SOCK_CLOEXEC));
        if (asker.is_open()) {
            answer_one(asker);
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return 1;
        }
    }
}

Result<UniqueFd> ask_event_opener(int cpu, std::uint32_t frequency_hz, const char* socket_path) {
    const EventRequest request{.cpu = static_cast<std::uint32_t>(cpu),
                               .frequency_hz = frequency_hz};
    auto event = ask(request, socket_path);
    if (!event) return fail(std::move(event).error()).context("event opener {}", socket_path);
    return event;
}

}  // namespace bobbin::sampler
