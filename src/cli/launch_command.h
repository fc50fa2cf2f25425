// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "output/output_file.h"

namespace bobbin::cli {

// The command of `record -- command`. Between prepare() and start() it is a forked child that waits
// at a gate, so that sampling of its pid can begin before its first instruction. It stays in our
// process group: Ctrl-C at the terminal reaches it too. One thread.
class LaunchedCommand {
public:
    // `run_as`: the user behind sudo; then HOME, USER and LOGNAME are that user's too. The child
    // has default signal dispositions, an empty signal mask and no descriptor of ours but 0, 1, 2.
    static Result<LaunchedCommand> prepare(const std::vector<std::string>& arguments,
                                           std::optional<output::FileOwner> run_as);

    LaunchedCommand(LaunchedCommand&& other) noexcept;
    LaunchedCommand& operator=(LaunchedCommand&&) = delete;
    LaunchedCommand(const LaunchedCommand&) = delete;
    LaunchedCommand& operator=(const LaunchedCommand&) = delete;
    // A child still at the gate ends; one that was started is left alone.
    ~LaunchedCommand();

    [[nodiscard]] pid_t pid() const { return pid_; }
    // Becomes readable when the command has ended, for poll() and epoll.
    [[nodiscard]] int pidfd() const { return pidfd_.get(); }

    // Opens the gate, once. Error: exec failed; its code tells why (explain_command_failure).
    Result<> start();
    // The exit status once the command has ended, 128 + signal when a signal ended it.
    std::optional<int> try_wait();
    // Nothing happens when it has ended.
    void send_signal(int signal);

private:
    LaunchedCommand(pid_t pid, UniqueFd gate, UniqueFd status)
        : pid_(pid), gate_(std::move(gate)), status_(std::move(status)) {}
    void reap();

    pid_t pid_ = -1;  // -1: moved from
    UniqueFd pidfd_;
    UniqueFd gate_;    // open: not started
    UniqueFd status_;  // what the child says before exec
    std::optional<int> exit_status_;
};

}  // namespace bobbin::cli
