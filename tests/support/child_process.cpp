// SPDX-License-Identifier: Apache-2.0
#include "support/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>

namespace bobbin::test {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Pipe {
    UniqueFd read_end;
    UniqueFd write_end;
};

Pipe make_pipe() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<std::string> merged_environment(const Environment& additions) {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    for (const auto& [name, value] : additions) variables[name] = value;
    std::vector<std::string> lines;
    for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
    return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& string : strings) pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

// ctest or a shell in the background may have left SIGINT ignored, which a child would inherit.
void set_default_signals(posix_spawnattr_t& attributes) {
    sigset_t defaults;
    sigset_t none;
    sigfillset(&defaults);
    sigdelset(&defaults, SIGKILL);
    sigdelset(&defaults, SIGSTOP);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
}

// False at the end of the stream.
bool read_into(int fd, std::string& text) {
    std::array<char, 65536> buffer;
    for (;;) {
        const ssize_t count = ::read(fd, buffer.data(), buffer.size());
        if (count == 0) return false;
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments,
                           const Environment& environment) {
    Pipe output = make_pipe();
    Pipe error = make_pipe();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, error.write_end.get(), STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    set_default_signals(attributes);

    std::vector<std::string> argument_strings = arguments;
    std::vector<std::string> environment_strings = merged_environment(environment);
    const int failure = ::posix_spawnp(&pid_, arguments.front().c_str(), &actions, &attributes,
                                       pointers_to(argument_strings).data(),
                                       pointers_to(environment_strings).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        ADD_FAILURE() << "start " << arguments.front() << ": "
                      << std::generic_category().message(failure);
        pid_ = -1;
        reaped_ = true;
        return;
    }
    pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    output_ = std::move(output.read_end);
    error_ = std::move(error.read_end);
}

ChildProcess::~ChildProcess() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    if (!reaped_) ::waitpid(pid_, nullptr, 0);
}

void ChildProcess::send_signal(int signal) const {
    ASSERT_GT(pid_, 0) << "not started; kill(-1) would reach every process there is";
    EXPECT_EQ(::kill(pid_, signal), 0) << "signal " << signal << " to " << pid_;
}

bool ChildProcess::read_more(std::chrono::steady_clock::time_point deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 3> waits{{{pidfd_.get(), POLLIN, 0},
                                 {output_.is_open() ? output_.get() : -1, POLLIN, 0},
                                 {error_.is_open() ? error_.get() : -1, POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) < 0)
        return errno == EINTR;
    if (waits[1].revents != 0 && !read_into(output_.get(), finished_.standard_output))
        output_.reset();
    if (waits[2].revents != 0 && !read_into(error_.get(), finished_.standard_error)) error_.reset();
    return waits[0].revents == 0;
}

// What was written before the end; a grandchild may keep the pipes open, so not until their end.
void ChildProcess::drain() {
    if (output_.is_open()) read_into(output_.get(), finished_.standard_output);
    if (error_.is_open()) read_into(error_.get(), finished_.standard_error);
}

void ChildProcess::reap() {
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_) return;
    reaped_ = true;
    finished_.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool ChildProcess::wait_for_output(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
    const auto is_there = [&] { return finished_.standard_output.find(text) != std::string::npos; };
    while (!is_there()) {
        if (reaped_ || !read_more(deadline)) {
            drain();
            return is_there();
        }
    }
    return true;
}

FinishedProcess ChildProcess::wait() {
    if (reaped_) return finished_;
    const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
    while (read_more(deadline)) {
    }
    if (std::chrono::steady_clock::now() >= deadline) {
        ADD_FAILURE() << "process " << pid_ << " hangs; its standard error:\n"
                      << finished_.standard_error;
        finished_.timed_out = true;
        ::kill(-pid_, SIGKILL);
    }
    reap();
    drain();
    return finished_;
}

FinishedProcess run_process(const std::vector<std::string>& arguments,
                            const Environment& environment) {
    ChildProcess process(arguments, environment);
    return process.wait();
}

}  // namespace bobbin::test
