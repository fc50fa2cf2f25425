// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "daemon/sampling.h"
#include "symbolize/executable_namer.h"
#include "symbolize/kernel_symbolizer.h"
#include "symbolize/named_profile.h"
#include "symbolize/remembered_names.h"

namespace bobbin::daemon {

// Names for who names each second: what was named before is remembered, and no file is waited for
// as long as at the end of a recording. Without labels of cgroups, lines of the kernel, downloads
// and the cache on disk. One thread.
class TopNames {
public:
    explicit TopNames(const Sampling& sampling);

    symbolize::NamedProfile name(const aggregate::CountedStacks& counted);

    // Of the processes that read files, the one that runs too.
    [[nodiscard]] std::chrono::nanoseconds worker_cpu_time();

private:
    [[nodiscard]] symbolize::NameSources ask_worker();

    const Sampling& sampling_;
    symbolize::ExecutableNamer namer_;
    symbolize::KernelSymbolizer kernel_;
    symbolize::RememberedNames remembered_;
};

}  // namespace bobbin::daemon
