// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bobbin::service {

// Logs from "info" on, or what BOBBIN_LOG says. Under systemd each line begins with its level as
// sd-daemon(3) has it, which the journal takes off again, and nothing else.
void log_as_service();

}  // namespace bobbin::service
