// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libunwind-ptrace.h>

#include <cstdint>
#include <memory>

#include "bpf_host/traced_process.h"
#include "differential/stopped_thread.h"

namespace bobbin::test {

// unw_step over recorded registers and stacks, with rules cached for all that was seen once: what
// of `process` is read after that is nothing.
class CachedLibunwind {
public:
    CachedLibunwind(const TracedProcess& process, unw_caching_policy_t policy);

    // Frames of the stack.
    std::uint64_t walk(const StoppedThread& stack);

private:
    struct DestroySpace {
        void operator()(unw_addr_space_t space) const { unw_destroy_addr_space(space); }
    };
    struct DestroyThread {
        void operator()(void* thread) const { _UPT_destroy(thread); }
    };
    std::unique_ptr<void, DestroyThread> traced_;
    std::unique_ptr<unw_addr_space, DestroySpace> space_;
    bool has_large_cache_ = false;
};

}  // namespace bobbin::test
