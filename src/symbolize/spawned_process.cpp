// SPDX-License-Identifier: Apache-2.0
#include "symbolize/spawned_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/unique_fd.h"

namespace bobbin::symbolize {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

// posix_spawn, because the agent has threads: nothing of ours runs between fork and exec.
class SpawnSettings {
public:
    SpawnSettings() {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawnattr_init(&attributes_);
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
    int spawn(const SpawnedProgram& program, pid_t& pid) const {
        std::vector<std::string> arguments = program.arguments;
        arguments.insert(arguments.begin(), "bobbin");
        std::vector<std::string> environment = program.environment;
        return ::posix_spawn(&pid, program.path.c_str(), &actions_, &attributes_,
                             pointers_to(arguments).data(), pointers_to(environment).data());
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

}  // namespace

Result<SpawnedProcess> spawn_process(const SpawnedProgram& program) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return fail_with(errno, "socketpair");
    }
    UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    SpawnSettings settings;
    if (const int error = settings.leave_only(theirs.get(), kAgentSocketFd); error != 0) {
        return fail_with(error, "posix_spawn");
    }
    pid_t pid = -1;
    if (const int error = settings.spawn(program, pid); error != 0) {
        return fail_with(error, "start {}", program.path);
    }
    return SpawnedProcess{.pid = pid, .socket = MessageSocket(std::move(ours))};
}

EndedProcess end_process(pid_t pid) {
    // Where it is dying already, this does not change of what.
    ::kill(pid, SIGKILL);
    int status = 0;
    rusage used{};
    if (is_gone_within(pid, kPatienceWithDying)) ::wait4(pid, &status, WNOHANG, &used);
    return {.status = status, .cpu_time = time_of(used.ru_utime) + time_of(used.ru_stime)};
}

std::vector<std::string> variables_of_this_process(const std::vector<std::string>& names) {
    std::vector<std::string> variables;
    for (const std::string& name : names) {
        const char* const value = std::getenv(name.c_str());
        if (value != nullptr) variables.push_back(name + "=" + value);
    }
    return variables;
}

}  // namespace bobbin::symbolize
