// SPDX-License-Identifier: Apache-2.0
#include "executable/run_first.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace bobbin::executable {

Result<> run_first() {
    const sched_param lowest{.sched_priority = 1};
    if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) != 0) {
        return fail_with(errno, "SCHED_FIFO");
    }
    return {};
}

// A step of nice is a factor of 1.25 in weight; 0 as a `who` is the calling thread on Linux.
void run_behind() {
    constexpr int kHalfTheWeight = 3;
    ::setpriority(PRIO_PROCESS, 0, kHalfTheWeight);
}

}  // namespace bobbin::executable
