// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbolize/message_socket.h"

namespace bobbin::symbolize {

// Where a spawned process finds its end of the socket; below are /dev/null, above nothing.
inline constexpr int kAgentSocketFd = 3;

// A process that does one dangerous thing in the agent's place.
struct SpawnedProgram {
    std::string path;
    std::vector<std::string> arguments;    // behind the program's name
    std::vector<std::string> environment;  // "NAME=value": nothing is inherited
};

struct SpawnedProcess {
    pid_t pid = -1;
    MessageSocket socket;
};

// With a session of its own: Ctrl-C is the agent's to understand.
Result<SpawnedProcess> spawn_process(const SpawnedProgram& program);

struct EndedProcess {
    int status = 0;  // of wait(2)
    std::chrono::microseconds cpu_time{};
};
// Kills it, if it did not end by itself, and reaps it.
EndedProcess end_process(pid_t pid);

// "NAME=value" of those that this process has.
std::vector<std::string> variables_of_this_process(const std::vector<std::string>& names);

}  // namespace bobbin::symbolize
