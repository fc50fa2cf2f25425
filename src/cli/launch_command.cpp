// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_command.h"

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>

namespace bobbin::cli {
namespace {

// What the child writes to the status channel: when it is ready for the gate, and when a step
// failed. Success of exec shows as end of file, because the channel is closed on exec.
enum class Step : std::int32_t { kReady, kSetGroups, kSetGid, kSetUid, kExec };
struct StatusMessage {
    Step step = Step::kReady;
    std::int32_t error = 0;
};

struct Identity {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;
};

// Everything the child needs, made before fork: after it, malloc may be locked for ever.
struct ChildPlan {
    std::vector<char*> arguments;  // ends with nullptr
    std::vector<std::string> environment_text;
    std::vector<char*> environment;  // ends with nullptr
    std::optional<Identity> identity;
};

constexpr std::array<std::string_view, 3> kUserVariables{"HOME=", "USER=", "LOGNAME="};

void copy_environment(const passwd* user, ChildPlan& plan) {
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        const bool is_replaced =
            user != nullptr && std::ranges::any_of(kUserVariables, [&](std::string_view name) {
                return text.starts_with(name);
            });
        if (!is_replaced) plan.environment_text.emplace_back(text);
    }
    if (user == nullptr) return;
    plan.environment_text.push_back(std::string("HOME=") + user->pw_dir);
    plan.environment_text.push_back(std::string("USER=") + user->pw_name);
    plan.environment_text.push_back(std::string("LOGNAME=") + user->pw_name);
}

std::vector<gid_t> groups_of(const passwd& user, gid_t gid) {
    std::vector<gid_t> groups(64);
    for (;;) {
        int count = static_cast<int>(groups.size());
        const int found = ::getgrouplist(user.pw_name, gid, groups.data(), &count);
        const auto wanted = static_cast<std::size_t>(std::max(count, 0));
        if (found >= 0 || wanted <= groups.size()) {
            groups.resize(std::min(wanted, groups.size()));
            return groups;
        }
        groups.resize(wanted);
    }
}

// Users without an entry in the password file keep our environment and get no further groups.
void plan_identity(output::FileOwner owner, ChildPlan& plan) {
    passwd entry{};
    passwd* user = nullptr;
    std::vector<char> buffer(16 * 1024);
    while (::getpwuid_r(owner.uid, &entry, buffer.data(), buffer.size(), &user) == ERANGE) {
        buffer.resize(buffer.size() * 2);
    }
    copy_environment(user, plan);
    Identity identity{owner.uid, owner.gid, {owner.gid}};
    if (user != nullptr) identity.groups = groups_of(*user, owner.gid);
    plan.identity = std::move(identity);
}

ChildPlan make_plan(const std::vector<std::string>& arguments,
                    std::optional<output::FileOwner> run_as) {
    ChildPlan plan;
    for (const std::string& argument : arguments) {
        plan.arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    plan.arguments.push_back(nullptr);
    if (run_as) {
        plan_identity(*run_as, plan);
    } else {
        copy_environment(nullptr, plan);
    }
    for (std::string& variable : plan.environment_text) plan.environment.push_back(variable.data());
    plan.environment.push_back(nullptr);
    return plan;
}

// ---- the child: only async-signal-safe calls from here to exec ----

[[noreturn]] void report_and_exit(int status_fd, Step step) {
    const StatusMessage message{step, errno};
    (void)!::write(status_fd, &message, sizeof(message));
    ::_exit(125);
}

// The raw calls: glibc's would first ask all threads of the process, of which fork left one.
void become(const Identity& identity, int status_fd) {
    if (::syscall(SYS_setgroups, identity.groups.size(), identity.groups.data()) != 0) {
        report_and_exit(status_fd, Step::kSetGroups);
    }
    if (::syscall(SYS_setresgid, identity.gid, identity.gid, identity.gid) != 0) {
        report_and_exit(status_fd, Step::kSetGid);
    }
    if (::syscall(SYS_setresuid, identity.uid, identity.uid, identity.uid) != 0) {
        report_and_exit(status_fd, Step::kSetUid);
    }
}

void reset_signals() {
    struct sigaction present{};
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        if (::sigaction(signal, nullptr, &present) != 0) continue;
        // An ignored SIGHUP is nohup's doing and meant for the command as well.
        if (signal == SIGHUP && present.sa_handler == SIG_IGN) continue;
        ::sigaction(signal, &standard, nullptr);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_child(const ChildPlan& plan, int gate_fd, int status_fd) {
    reset_signals();
    if (plan.identity) become(*plan.identity, status_fd);
    const StatusMessage ready;
    (void)!::write(status_fd, &ready, sizeof(ready));
    char opened = 0;
    // End of file: the parent is gone.
    if (::read(gate_fd, &opened, 1) != 1) ::_exit(125);
    ::execvpe(plan.arguments.front(), plan.arguments.data(), plan.environment.data());
    report_and_exit(status_fd, Step::kExec);
}

// ---- the parent again ----

struct Channel {
    UniqueFd parent_end;
    UniqueFd child_end;
};

// A pair of sockets, not a pipe: a send to a child that was killed must not raise SIGPIPE.
Result<Channel> make_channel() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return fail_with(errno, "make a socket pair");
    }
    return Channel{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// nullopt: end of file.
std::optional<StatusMessage> read_status(int fd) {
    StatusMessage message;
    ssize_t got = 0;
    do {
        got = ::read(fd, &message, sizeof(message));
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof(message))) return std::nullopt;
    return message;
}

const char* step_text(Step step) {
    switch (step) {
        case Step::kSetGroups:
            return "take the groups of the user who called sudo";
        case Step::kSetGid:
            return "take the group of the user who called sudo";
        case Step::kSetUid:
            return "become the user who called sudo";
        case Step::kReady:
        case Step::kExec:
            break;
    }
    return "execute it";
}

int exit_status_of(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

Result<LaunchedCommand> LaunchedCommand::prepare(const std::vector<std::string>& arguments,
                                                 std::optional<output::FileOwner> run_as) {
    if (arguments.empty()) return fail("run a command: there is none");
    BOBBIN_TRY(Channel gate, make_channel());
    BOBBIN_TRY(Channel status, make_channel());
    // Only root can become somebody else; SUDO_UID may also come from `sudo -u`.
    if (::geteuid() != 0) run_as.reset();
    const ChildPlan plan = make_plan(arguments, run_as);

    // A signal between fork and reset_signals() would run a handler of ours in the child.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = ::fork();
    const int fork_error = errno;
    if (pid == 0) {
        gate.parent_end.reset();  // else the gate would never show end of file
        run_child(plan, gate.child_end.get(), status.child_end.get());
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) return fail_with(fork_error, "fork for {}", arguments.front());

    LaunchedCommand command(pid, std::move(gate.parent_end), std::move(status.parent_end));
    gate.child_end.reset();
    status.child_end.reset();
    command.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!command.pidfd_.is_open()) return fail_with(errno, "open a pidfd of {}", arguments.front());
    const std::optional<StatusMessage> ready = read_status(command.status_.get());
    if (!ready) return fail("the child for {} ended before its start", arguments.front());
    if (ready->error != 0) {
        return fail_with(ready->error, "run {}: {}", arguments.front(), step_text(ready->step));
    }
    return command;
}

LaunchedCommand::LaunchedCommand(LaunchedCommand&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      gate_(std::move(other.gate_)),
      status_(std::move(other.status_)),
      exit_status_(other.exit_status_) {}

LaunchedCommand::~LaunchedCommand() {
    if (pid_ < 0 || !gate_.is_open()) return;
    // Killed, not only let go: a fork of ours may hold the gate's other end open.
    send_signal(SIGKILL);
    reap();
}

Result<> LaunchedCommand::start() {
    const char open = 1;
    ssize_t written = 0;
    do {
        written = ::send(gate_.get(), &open, 1, MSG_NOSIGNAL);
    } while (written < 0 && errno == EINTR);
    const int write_error = errno;
    gate_.reset();
    if (written != 1) return fail_with(write_error, "start the command");
    const std::optional<StatusMessage> failed = read_status(status_.get());
    status_.reset();
    if (!failed) return {};
    reap();
    return fail_with(failed->error, "{}", step_text(failed->step));
}

std::optional<int> LaunchedCommand::try_wait() {
    if (exit_status_ || pid_ < 0) return exit_status_;
    int wait_status = 0;
    if (::waitpid(pid_, &wait_status, WNOHANG) == pid_) exit_status_ = exit_status_of(wait_status);
    return exit_status_;
}

void LaunchedCommand::send_signal(int signal) {
    if (!exit_status_) (void)::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

void LaunchedCommand::reap() {
    if (exit_status_) return;
    int wait_status = 0;
    while (::waitpid(pid_, &wait_status, 0) < 0) {
        if (errno != EINTR) return;
    }
    exit_status_ = exit_status_of(wait_status);
}

}  // namespace bobbin::cli
