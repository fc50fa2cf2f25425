// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "support/child_process.h"

namespace bobbin::bench {

// A command at work on the last CPU until the object's end.
class PinnedTarget {
public:
    explicit PinnedTarget(const std::string& fixture);
    explicit PinnedTarget(std::vector<std::string> command);
    [[nodiscard]] pid_t pid() const { return process_.pid(); }
    // With its children: a ChildProcess leads a group.
    void stop() const;
    void go_on() const;

private:
    test::ChildProcess process_;
};

// The compiler at work for seconds, again and again, on what is small to write down: 20 functions,
// each with a regex of its own.
std::vector<std::string> compiler_in_a_loop();

void pin_to_first_cpu();

// A cpu-clock event of one thread that runs a BPF program of type perf_event.
UniqueFd attach_to(pid_t pid, int program_fd, unsigned frequency_hz);

}  // namespace bobbin::bench
