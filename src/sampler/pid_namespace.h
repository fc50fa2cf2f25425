// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace bobbin::sampler {

// Whether the numbers that /proc shows are those that the kernel itself uses.
bool is_in_root_pid_namespace();

// How many namespaces this process lives below the one that /proc shows: none, unless /proc is
// still that of a namespace above (unshare --pid without --mount-proc, or a container that has the
// host's /proc mounted).
std::uint32_t levels_below_proc();
// The same from the text of /proc/self/status, whose NSpid has a number for each of these levels:
// proc_pid_status(5).
std::uint32_t levels_below_proc(std::string_view status);

// The number of a process as /proc shows it: what fork() returned is of this process's own
// namespace. Taken from the pidfd's entry in /proc/self/fdinfo; nullopt: it does not show it.
std::optional<pid_t> number_in_proc(int pidfd);

}  // namespace bobbin::sampler
