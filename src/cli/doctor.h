// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/kernel_features.h"
#include "cli/system_facts.h"

namespace bobbin::cli {

// One thing that recording needs or profits from.
struct Check {
    enum class Need {
        kRequired,  // without it nothing is recorded
        kRights,    // likewise, and more rights would help
        kUseful,    // recording works, but something of the profile is missing or slower
    };
    std::string name;
    bool ok = false;
    Need need = Need::kRequired;
    std::string found;  // what this machine has
    std::string fix;    // what to do when it is not ok
};

std::vector<Check> examine(const SystemFacts& facts, const KernelFeatures& features);

// 0 when `record` would work, 77 when only rights are missing, else 1.
int exit_status_of(std::span<const Check> checks);

struct ReportStyle {
    bool utf8 = false;
    bool colours = false;
};
std::string describe(std::span<const Check> checks, ReportStyle style);
std::string to_json(std::span<const Check> checks);

// Examines this machine and prints to standard output; gives the exit status.
int run_doctor(const DoctorCommand& command);

}  // namespace bobbin::cli
