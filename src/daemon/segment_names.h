// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "aggregate/stack_counts.h"
#include "daemon/sampling.h"
#include "symbolize/executable_namer.h"
#include "symbolize/kernel_symbolizer.h"
#include "symbolize/remembered_names.h"

namespace bobbin::daemon {

// Names for who names each minute, for months: what was named before is remembered, and the process
// that reads files lives for one name() only, so that between them nothing is left of it. One
// thread.
class SegmentNames {
public:
    // `sampling` outlives it.
    explicit SegmentNames(const Sampling& sampling);
    SegmentNames(const SegmentNames&) = delete;
    SegmentNames& operator=(const SegmentNames&) = delete;
    ~SegmentNames() = default;

    NamedStacks name(const aggregate::CountedStacks& counted);

    // Gives back what is remembered; it is read again when it is needed.
    void forget();
    // Files that the kernel side forgot leave the catalog. To be called when the last stacks were
    // named that were taken before the call before the last one.
    void forget_gone_files();

private:
    void begin_round(const aggregate::CountedStacks& counted);

    const Sampling& sampling_;
    // Made anew for each name(), at the same address: its patience and its losses are of one.
    std::optional<symbolize::ExecutableNamer> namer_;
    std::optional<symbolize::KernelSymbolizer> kernel_;
    std::optional<symbolize::RememberedNames> remembered_;
    std::set<std::uint32_t> gone_;  // since the last forget_gone_files()
};

}  // namespace bobbin::daemon
