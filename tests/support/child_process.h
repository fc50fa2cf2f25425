// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace bobbin::test {

// More than any run needs, even with the machine's CPUs shared by others: reached only by a hang.
inline constexpr std::chrono::seconds kGenerousTimeout{240};

struct FinishedProcess {
    int exit_status = -1;  // 128 + signal when a signal ended it, as a shell says it
    bool timed_out = false;
    std::string standard_output;
    std::string standard_error;
};

// A program started by a test in a process group of its own; both its outputs are read while it
// runs, its input is empty, its signals are at their defaults. Whatever still runs at the end of
// the object's life is killed, with its group.
class ChildProcess {
public:
    // `environment` is added to the test's own. A program that cannot be started fails the test.
    explicit ChildProcess(const std::vector<std::string>& arguments,
                          const std::vector<std::pair<std::string, std::string>>& environment = {});
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    void send_signal(int signal) const;

    // True once standard output contains `text`; false when the process ended or a generous time
    // passed without it.
    bool wait_for_output(std::string_view text);

    FinishedProcess wait();

private:
    // Reads what there is, or waits for more. False: the process has ended, or the time is over.
    bool read_more(std::chrono::steady_clock::time_point deadline);
    void drain();
    void reap();

    pid_t pid_ = -1;
    UniqueFd pidfd_;
    UniqueFd output_;
    UniqueFd error_;
    FinishedProcess finished_;
    bool reaped_ = false;
};

// Starts, waits, tells.
FinishedProcess run_process(
    const std::vector<std::string>& arguments,
    const std::vector<std::pair<std::string, std::string>>& environment = {});

}  // namespace bobbin::test
