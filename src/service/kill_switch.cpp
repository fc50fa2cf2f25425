// SPDX-License-Identifier: Apache-2.0
#include "service/kill_switch.h"

#include <sys/stat.h>

#include <cstdlib>

namespace bobbin::service {

KillSwitch KillSwitch::find() {
    const char* const path = std::getenv("BOBBIN_KILLSWITCH");
    return KillSwitch(path != nullptr ? path : "/run/bobbin/killswitch");
}

bool KillSwitch::is_on() const {
    struct stat status{};
    return ::lstat(path_.c_str(), &status) == 0 && status.st_uid == 0;
}

}  // namespace bobbin::service
