// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/system_facts.h"

namespace bobbin::cli {

// What the person at the terminal is told: what failed, why, and one command to paste.
struct UserError {
    std::string what;
    std::string why;  // may be empty, as `run` may
    std::string run;
    int exit_status = 1;
};

// "bobbin: what\nwhy\nrun:  ...\n"; control characters of foreign names are escaped.
std::string describe(const UserError& error);
// The same to standard error.
void print(const UserError& error);
// Prints it and gives the exit status.
int fail_with_message(const UserError& error);

// The functions below diagnose: pure, from the error and the facts of this machine. `invocation` is
// argv, the program's name included; it comes back in the command to paste.

// The process lacks the rights to record (SystemFacts::may_record() is false); exit status 77.
UserError explain_not_root(const SystemFacts& facts, std::span<const std::string> invocation);

// perf_event_open failed; error.code() is its errno.
UserError explain_sampling_failure(const Error& error, const SystemFacts& facts,
                                   std::span<const std::string> invocation);

// The kernel has no BTF, so CO-RE has nothing to relocate against.
UserError explain_missing_btf(const SystemFacts& facts);

// Loading or attaching the BPF object failed; error.code() is what libbpf gave.
UserError explain_load_failure(const Error& error, const SystemFacts& facts,
                               std::span<const std::string> invocation);

// The command after `--` did not start (LaunchedCommand::start). Exit status as `env` has it: 127
// when there is no such program, 126 when it cannot be executed.
UserError explain_command_failure(const Error& error, const std::string& program);

// A file that cannot be opened or is no ELF file that bobbin reads.
UserError explain_file_failure(const Error& error, const std::string& path);

// Anything else.
UserError explain_failure(const Error& error);

}  // namespace bobbin::cli
