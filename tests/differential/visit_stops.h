// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bpf_host/traced_mappings.h"
#include "bpf_host/traced_process.h"
#include "differential/stopped_thread.h"

namespace bobbin::test {

class StopVisitor {
public:
    StopVisitor() = default;
    StopVisitor(const StopVisitor&) = delete;
    StopVisitor& operator=(const StopVisitor&) = delete;
    virtual ~StopVisitor() = default;
    // Before the first stop, and whenever the process has other mappings than at the last one.
    virtual void on_mappings(const std::vector<TracedMapping>& mappings) = 0;
    virtual void on_stop(const StoppedThread& thread) = 0;
};

// Runs `process` to its end or through `most_stops` stops: the first instructions of ld.so; then
// blocks of single steps, each from the first instruction of a function that was not met before.
// Every fourth block is long enough to see epilogues, PLT stubs and callees.
void visit_stops(TracedProcess& process, std::size_t most_stops, StopVisitor& visitor);

}  // namespace bobbin::test
