// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "cli/errors.h"
#include "cli/exit_status.h"
#include "config/record_config.h"
#include "sampler/cgroup_tree.h"

namespace bobbin::cli {

struct DoctorCommand {
    bool json = false;
};
struct ObjectInfoCommand {
    std::string path;
    bool json = false;
};
struct ShowUnwindCommand {
    std::string path;
    std::optional<std::uint64_t> pc_file_vaddr;
};
// Nothing left to do: help, version or an error was printed.
struct Finished {
    int exit_status = kExitOk;
};

using Command = std::variant<config::RecordConfig, DoctorCommand, ObjectInfoCommand,
                             ShowUnwindCommand, Finished>;

// argv -> one checked command. Prints help and version to stdout, errors to stderr. Opens nothing
// but the places where the profiles will be written.
Command parse_command_line(int argc, const char* const* argv);

// What a command line is checked against.
struct Surroundings {
    std::optional<std::uint32_t> max_sample_rate_hz;  // kernel.perf_event_max_sample_rate
    // The process a pid or tid belongs to; nullopt: there is none.
    std::function<std::optional<pid_t>(pid_t)> process_of;
    // Where cgroups of version 2 are; an error says that there are none.
    std::function<Result<sampler::CgroupTree>()> cgroup_tree;
    // Why this process may not record (explain_not_root), said before any file is touched.
    std::optional<UserError> rights_missing;
};
// `invocation` is argv, for the command to paste.
Surroundings this_machine(std::span<const std::string> invocation);

// Text asked for: help, version.
struct Answer {
    std::string text;
};
using Understood = std::variant<config::RecordConfig, DoctorCommand, ObjectInfoCommand,
                                ShowUnwindCommand, Answer, UserError>;

// The same without printing. `arguments` begin behind the program's name.
Understood understand(std::span<const std::string> arguments, const Surroundings& surroundings);

}  // namespace bobbin::cli
