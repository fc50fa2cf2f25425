// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/record_config.h"
#include "daemon/sampling.h"

namespace bobbin::daemon {

// One line on standard error that is written over once a second. Silent when that is no terminal.
class ProgressLine {
public:
    ProgressLine(const Sampling& sampling, const config::RecordConfig& config);
    void show();
    void clear();

private:
    const Sampling& sampling_;
    bool enabled_;
    bool shown_ = false;
};

}  // namespace bobbin::daemon
