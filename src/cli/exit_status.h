// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bobbin::cli {

// Exit statuses of the program. 125, 126 and 127 are those of env(1) and nohup(1): they say of
// `record -- command` that bobbin itself failed, or that the command could not be started.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitDiffGate = 3;      // diff --fail-above
inline constexpr int kExitNoPrivilege = 77;  // EX_NOPERM of <sysexits.h>
inline constexpr int kExitRecordFailed = 125;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitAborted = 130;

}  // namespace bobbin::cli
