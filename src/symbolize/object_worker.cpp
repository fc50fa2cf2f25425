// SPDX-License-Identifier: Apache-2.0
#include "symbolize/object_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "symbolize/serve_objects.h"

namespace bobbin::symbolize {
namespace {

using Clock = MessageSocket::Clock;

// posix_spawn, because the agent has threads: nothing of ours runs between fork and exec.
class SpawnSettings {
public:
    SpawnSettings() {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawnattr_init(&attributes_);
        // A session of its own: Ctrl-C is the agent's to understand.
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;
    ~SpawnSettings() {
        ::posix_spawnattr_destroy(&attributes_);
        ::posix_spawn_file_actions_destroy(&actions_);
    }

    // 0, or the error. The child has this descriptor, as number `as`, and no other.
    int leave_only(int fd, int as) {
        int error = ::posix_spawn_file_actions_adddup2(&actions_, fd, as);
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            if (error != 0) break;
            error = ::posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null", O_RDWR, 0);
        }
        return error != 0 ? error : ::posix_spawn_file_actions_addclosefrom_np(&actions_, as + 1);
    }

    // 0, or the error.
    int spawn(const std::string& program, std::span<char* const> arguments, pid_t& pid) const {
        // The environment may hold secrets of root's; only how to find libraries is needed.
        const char* const library_path = std::getenv("LD_LIBRARY_PATH");
        std::string variable =
            std::string("LD_LIBRARY_PATH=") + (library_path != nullptr ? library_path : "");
        std::array<char*, 2> environment{library_path != nullptr ? variable.data() : nullptr,
                                         nullptr};
        return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments.data(),
                             environment.data());
    }

private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

// A read that waits for a disk or a network cannot be interrupted; then it dies alone.
constexpr std::chrono::milliseconds kPatienceWithDying{2'000};

bool is_gone_within(pid_t pid, std::chrono::milliseconds time) {
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd waiting{.fd = process.get(), .events = POLLIN, .revents = 0};
    return process.is_open() && ::poll(&waiting, 1, static_cast<int>(time.count())) == 1;
}

std::chrono::microseconds time_of(const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

std::string describe_end(int status, std::uint64_t memory_bytes) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == kWorkerOutOfMemory) {
        return fmt::format("reading it takes more than {} MiB", memory_bytes >> 20);
    }
    if (!WIFSIGNALED(status)) return "its reader ended";
    const char* const signal = ::sigabbrev_np(WTERMSIG(status));
    return fmt::format("its reader died of SIG{}", signal != nullptr ? signal : "?");
}

}  // namespace

Result<> ObjectWorker::start() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return fail_with(errno, "socketpair");
    }
    UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    SpawnSettings settings;
    if (const int error = settings.leave_only(theirs.get(), kWorkerSocketFd); error != 0) {
        return fail_with(error, "posix_spawn");
    }
    std::string name = "bobbin";
    std::string verb = kWorkerArgument;
    std::string memory = std::to_string(options_.memory_bytes);
    const std::array<char*, 4> arguments{name.data(), verb.data(), memory.data(), nullptr};
    if (const int error = settings.spawn(options_.program, arguments, pid_); error != 0) {
        pid_ = -1;
        return fail_with(error, "start {}", options_.program);
    }
    socket_.emplace(std::move(ours));
    return {};
}

int ObjectWorker::end() {
    if (pid_ < 0) return 0;
    // Where it is dying already, this does not change of what.
    ::kill(pid_, SIGKILL);
    int status = 0;
    rusage used{};
    if (is_gone_within(pid_, kPatienceWithDying)) ::wait4(pid_, &status, WNOHANG, &used);
    cpu_time_ += time_of(used.ru_utime) + time_of(used.ru_stime);
    socket_.reset();
    pid_ = -1;
    return status;
}

Result<> ObjectWorker::serve(const Message& message, Clock::time_point deadline) {
    if (message.kind == MessageKind::kReady) {
        rights_left_ = decode_text(message.payload);
        return {};
    }
    if (message.kind == MessageKind::kOpen) {
        const FoundFile found = open_object_file(decode_text(message.payload));
        return socket_->send(MessageKind::kFile, encode(found.directory), found.fd.get(), deadline);
    }
    return fail_with(EPROTO, "a message of kind {}", static_cast<std::uint32_t>(message.kind));
}

Result<Message> ObjectWorker::converse(int fd, const ObjectRequest& request,
                                       Clock::time_point deadline) {
    BOBBIN_CHECK(socket_->send(MessageKind::kObject, encode(request), fd, deadline));
    while (true) {
        BOBBIN_TRY(Message message, socket_->receive(deadline));
        const bool ends_request =
            message.kind == MessageKind::kNames || message.kind == MessageKind::kFailed;
        if (ends_request) return message;
        BOBBIN_CHECK(serve(message, deadline));
    }
}

ObjectWorker::Answer ObjectWorker::give_up(int error, std::chrono::milliseconds patience) {
    const int status = end();
    Answer answer{.names = {}, .worker_was_lost = true, .reason = {}};
    if (error == ETIMEDOUT) {
        answer.reason = fmt::format("reading it takes longer than {:.3g} s",
                                    static_cast<double>(patience.count()) / 1000);
    } else if (error == EPIPE) {
        answer.reason = describe_end(status, options_.memory_bytes);
    } else {
        answer.reason = "its reader gave no sensible answer";
    }
    return answer;
}

ObjectWorker::Answer ObjectWorker::name(int fd, const ObjectRequest& request,
                                        std::chrono::milliseconds patience) {
    const Clock::time_point deadline = Clock::now() + patience;
    if (socket_ && socket_->is_closed_by_peer()) end();  // while it had nothing to do
    if (!socket_) {
        if (const auto started = start(); !started) {
            return {.names = {}, .worker_was_lost = false, .reason = started.error().message()};
        }
    }
    const auto message = converse(fd, request, deadline);
    if (!message) return give_up(message.error().code().value(), patience);
    if (message->kind == MessageKind::kFailed) {
        return {.names = {}, .worker_was_lost = false, .reason = decode_text(message->payload)};
    }
    auto names = decode_names(message->payload, request.addresses.size());
    if (!names) return give_up(EPROTO, patience);
    return {.names = std::move(*names), .worker_was_lost = false, .reason = {}};
}

}  // namespace bobbin::symbolize
